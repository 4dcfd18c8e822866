// What the server is asked.

/** A request; what is wrong is thrown as the server tells it. */
export async function ask(path, { method = 'GET', body, type = 'application/json', accept, signal } = {}) {
  const headers = {};
  if (body !== undefined) headers['content-type'] = type;
  if (accept) headers.accept = accept;
  let response;
  try {
    response = await fetch(`/v1${path}`, { method, headers, body, signal });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw { detail: 'The server does not answer', remedy: 'start pmm serve again' };
  }
  if (response.ok) return response;
  throw await response.json().catch(() => ({ detail: `The server says ${response.status}` }));
}

/** The same, for JSON. */
export const get = async (path, options) => (await ask(path, options)).json();

/** Asks with JSON for JSON. */
export const post = (path, value, options = {}) => get(path, { method: 'POST', body: JSON.stringify(value ?? {}), ...options });

/** A part of an address. */
export const enc = encodeURIComponent;

/** Sends a file, and tells how much of it has gone. */
export function send(path, file, told) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', `/v1${path}`);
    request.upload.onprogress = (event) => told?.(event.loaded / Math.max(event.total, 1));
    request.onload = () => {
      if (request.status < 300) return resolve();
      try { reject(JSON.parse(request.responseText)); } catch { reject({ detail: `The server says ${request.status}` }); }
    };
    request.onerror = () => reject({ detail: 'The file could not be sent' });
    request.send(file);
  });
}

/** Saves what was made here as a file. */
export function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
