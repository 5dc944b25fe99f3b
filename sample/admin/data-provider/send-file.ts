/** A `fetch` for large bodies: it says how much was sent, which browsers do for XMLHttpRequest alone. */

/** Sends a request of the client, with a file for its body. The answer arrives in parts, as that of `fetch`. */
export function sendFile(
  file: Blob,
  onSent: (share: number) => void,
): (request: Request) => Promise<Response> {
  return ({ method, url, headers, credentials, signal }) =>
    new Promise((resolve, reject) => {
      const sender = new XMLHttpRequest();
      const encoder = new TextEncoder();
      let answer: ReadableStreamDefaultController<Uint8Array> | undefined;
      let taken = 0;
      const take = () => {
        answer?.enqueue(encoder.encode(sender.responseText.slice(taken)));
        taken = sender.responseText.length;
      };
      const fail = (error: Error) => {
        reject(error);
        answer?.error(error);
      };
      sender.open(method, url);
      sender.withCredentials = credentials === 'include';
      headers.forEach((value, name) => {
        sender.setRequestHeader(name, value);
      });
      sender.upload.onprogress = ({ loaded, total }) => onSent(loaded / total);
      sender.onreadystatechange = () => {
        if (sender.readyState !== XMLHttpRequest.HEADERS_RECEIVED || sender.status === 0) return;
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            answer = controller;
          },
        });
        resolve(new Response(body, { status: sender.status, headers: headersOf(sender) }));
      };
      sender.onprogress = take;
      sender.onload = () => {
        take();
        answer?.close();
      };
      sender.onerror = () => fail(new TypeError('Failed to send the file.'));
      sender.onabort = () => fail(new DOMException('The request was cancelled.', 'AbortError'));
      signal.addEventListener('abort', () => sender.abort());
      if (signal.aborted) fail(new DOMException('The request was cancelled.', 'AbortError'));
      else sender.send(file);
    });
}

function headersOf(sender: XMLHttpRequest): Headers {
  const lines = sender.getAllResponseHeaders().trim().split('\r\n');
  return new Headers(
    lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(':')),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
}
