/** A back end of several servers, all of which have to answer. */
import { type Ping, ProbeFailure, shownReason, untilAborted } from './probe.js';

/** Asks every server at the same time. */
export function pingServers(servers: readonly { readonly ping: Ping }[]): Ping {
  return async (signal) => {
    const answers = await Promise.allSettled(
      servers.map((server) => untilAborted(signal, server.ping(signal))),
    );
    const reasons = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [shownReason(answer.reason)] : [],
    );
    const [reason] = reasons;
    if (reason === undefined) return;
    throw new ProbeFailure(
      servers.length === 1 ? reason : `${reasons.length} of ${servers.length} servers: ${reason}`,
    );
  };
}
