// The page: which part of it is shown.

import { get } from './api.js';
import { h, show, complain } from './dom.js';
import { home } from './home.js';
import { inspect } from './inspect.js';
import { watch } from './watch.js';
import { model } from './take_away.js';
import { method } from './method.js';

const main = document.getElementById('main');
let leave = null;

const routes = { '': home, data: inspect, fit: watch, model, method };

async function go() {
  leave?.();
  leave = null;
  document.getElementById('problem').hidden = true;
  const [, page = '', ...rest] = location.hash.split('/');
  const route = routes[page] ?? home;
  const place = h('div', {});
  show(main, place);
  try {
    leave = (await route(place, ...rest.map(decodeURIComponent))) ?? null;
    const title = place.querySelector('h1')?.textContent;
    document.title = title ? `${title} · pmm` : 'pmm';
  } catch (error) {
    if (error?.status === 401) {
      show(place, h('h1', {}, 'A token is needed'), h('p', {}, 'Open the address that ', h('span', { class: 'mono' }, 'pmm serve'), ' printed last.'));
    } else {
      complain(error);
    }
  }
}

addEventListener('hashchange', () => { go().then(() => main.focus()); });
go();
get('').then((facts) => { document.getElementById('folder').textContent = `${facts.folder} · pmm ${facts.version}${facts.read_only ? ' · read only' : ''}`; }).catch(() => {});
