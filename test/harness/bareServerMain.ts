// What every gateway in Node costs at least: `ws` on `node:http`, and nothing else. Prints its port.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const server = createServer((_request, response) => {
  response.end('{}');
});
new WebSocketServer({ server });
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(address?.port);
});
