// SPDX-License-Identifier: Apache-2.0
// node.js [timer]: one of the servers of the attribution test, on Node's HTTP server, with one event loop, which also opens the files of
// requests. With timer, the loop also opens a file every 10 ms, which belongs to no request.
const fs = require('fs');
const http = require('http');

function mark(work, number) {
  try {
    fs.closeSync(fs.openSync(`${process.env.MARKS}/${work.mark}.${number}`));
  } catch (missing) {
    // The file does not exist; only the attempt matters.
  }
}

function workOf(path) {
  const [mark, opens, chunk, chunks, pad, delay, mode] = path.split('/').slice(2);
  return { mark, opens: +opens, chunk: +chunk, chunks: +chunks, pad: +pad, delay: +delay, mode };
}

async function answer(request, response) {
  for await (const ignored of request);
  const work = workOf(request.url);
  for (let number = 0; number < work.opens; number++) mark(work, number);
  if (work.mode === 'boom') throw new Error('the handler was asked to fail');
  response.writeHead(200, { 'Content-Length': work.chunk * work.chunks, 'X-Pad': 'p'.repeat(work.pad) });
  response.flushHeaders();
  for (let number = 0; number < work.chunks; number++) {
    if (number) {
      if (work.delay) await new Promise((done) => setTimeout(done, work.delay));
      mark(work, work.opens + number - 1);
    }
    response.write('c'.repeat(work.chunk));
  }
  response.end();
}

const server = http.createServer((request, response) => {
  response.on('error', () => {});
  answer(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 60000;
server.listen(0, '127.0.0.1', 128, () => console.log(server.address().port));

if (process.argv[2] === 'timer') {
  let number = 0;
  setInterval(() => mark({ mark: 'r0' }, number++), 10); // the clients number requests from 1
}
