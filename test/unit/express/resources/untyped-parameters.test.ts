import { expect } from 'chai';
import { Body, type BodyOptions, Ctx, Param, Patch, Post, Session } from 'routing-controllers';
import { crudController } from '../../../../src/express/resources/crud-controller.js';
import { methodsOf, untypedParameterProblems } from '../../../../src/express/resources/untyped-parameters.js';
import { everyRoute } from '../../../../src/operation/route-spec.js';
import { defineModel } from '../../../support/offline-models.js';

const Thing = defineModel('Thing', { id: { type: 'INTEGER', primaryKey: true } });

class Form {}

/** As the decorators run without a compiler that emits types, and in plain JavaScript. */
function decorateByHand(target: { prototype: object }, method: string, options?: BodyOptions): void {
  Post('/')(target.prototype, method);
  Body(options)(target.prototype, method, 0);
}

const linesOf = (controller: unknown) =>
  untypedParameterProblems(methodsOf([controller as new () => object], everyRoute([])));

describe('parameters without a type', () => {
  it('are none where the type is given', () => {
    class Forms {
      send(form: object): object {
        return form;
      }
    }
    decorateByHand(Forms, 'send', { type: Form });
    expect(linesOf(Forms)).to.deep.equal([]);
  });

  it('are those that a circular import has left undefined', () => {
    class Forms {
      @Post('/')
      send(@Param('id') _id: number, @Body() form: Form): object {
        return form;
      }
    }
    expect(linesOf(Forms)).to.deep.equal([]);
    Reflect.defineMetadata('design:paramtypes', [Number, undefined], Forms.prototype, 'send');
    expect(linesOf(Forms)[0]).to.match(/^Forms\.send \(POST \/\): the type of @Body\(\) is not known; /);
  });

  it('are none that the server gives itself', () => {
    class Forms {
      send(session: object): object {
        return session;
      }
    }
    Post('/')(Forms.prototype, 'send');
    Session()(Forms.prototype, 'send', 0);
    Ctx()(Forms.prototype, 'send', 1);
    expect(linesOf(Forms)).to.deep.equal([]);
  });

  it('are looked for in methods that replace a generated one', () => {
    class Things extends crudController(Thing) {}
    Body()(Things.prototype, 'update', 1);
    expect(linesOf(Things)[0]).to.match(
      /^Things\.update \(PATCH \/:id\): the type of @Body\(\) is not known; /,
    );
  });

  it('are looked for in classes that the controller extends, with the types of those', () => {
    abstract class Shared {
      @Patch('/:id')
      change(@Body() form: Form): object {
        return form;
      }
    }
    class Forms extends Shared {
      override change(form: Form): object {
        return form;
      }
    }
    class Untyped extends Forms {
      send(form: object): object {
        return form;
      }
    }
    decorateByHand(Untyped, 'send');
    expect(linesOf(Forms)).to.deep.equal([]);
    expect(linesOf(Untyped)[0]).to.match(/^Untyped\.send /);
  });

  it('are looked for in what a class has that the controller extends, too', () => {
    abstract class Shared {
      send(form: object, _id: unknown): object {
        return form;
      }
    }
    Param('id')(Shared.prototype, 'send', 1);
    decorateByHand(Shared, 'send');
    class Forms extends Shared {}
    expect(linesOf(Forms)[0]).to.match(
      /^Forms\.send \(POST \/\): the type of @Body\(\) and @Param\('id'\) is not /,
    );
  });

  it('are none in a method without a route', () => {
    class Helper {
      help(form: object): object {
        return form;
      }
    }
    Body()(Helper.prototype, 'help', 0);
    expect(linesOf(Helper)).to.deep.equal([]);
  });
});
