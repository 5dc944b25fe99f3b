/** Keeps what is on screen up to date by the feed of a resource, whoever writes. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useResourceContext } from 'react-admin';

/** Reads that are repeated. That of a form is none of them, because its user is typing. */
const FRESH = ['getList', 'getMany', 'getManyReference', 'getHistory'];
/** Milliseconds in which several events lead to one refresh. */
const PAUSE = 250;
/** Milliseconds after which a stream that was refused is opened again. */
const RETRY = 5_000;

/** @param url of the feed: `/reviews/changes`. The stream is open as long as the page. */
export function useFeed(url: string): void {
  const resource = useResourceContext();
  const queryClient = useQueryClient();
  useEffect(() => {
    let source: EventSource;
    let pause: number | undefined;
    let retry: number | undefined;
    const refresh = () => {
      pause = undefined;
      for (const method of FRESH) queryClient.invalidateQueries({ queryKey: [resource, method] });
    };
    const refreshSoon = () => {
      pause ??= window.setTimeout(refresh, PAUSE);
    };
    const open = () => {
      source = new EventSource(url);
      // The page may have been read before.
      source.onopen = refreshSoon;
      source.addEventListener('change', refreshSoon);
      // The browser comes back by itself, but not after an answer such as 410 or 503.
      source.onerror = () => {
        if (source.readyState === EventSource.CLOSED) retry = window.setTimeout(open, RETRY);
      };
    };
    open();
    return () => {
      source.close();
      window.clearTimeout(pause);
      window.clearTimeout(retry);
    };
  }, [url, resource, queryClient]);
}
