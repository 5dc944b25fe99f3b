/** Modules are called as they are imported. */
import { Converter, ReflectionKind } from 'typedoc';

const NAMES = { index: 'crud-controllers', opentelemetry: 'crud-controllers/opentelemetry' };

export function load({ converter }) {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.getReflectionsByKind(ReflectionKind.Module)) module.name = NAMES[module.name] ?? module.name;
  });
}
