// Drives the official TypeScript client against a server and prints what it saw as one JSON object.
//
//     node typescript_client.mjs URL
//
// The server is the one of workshop.py: its tool `fail` ends in the way that its argument names.

import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const WAYS = ['crash', 'own_error', 'invalid_params', 'missing_capability', 'not_found', 'late_crash'];

/** What became of a request: its result, or the kind of error that the client made of the answer. */
async function outcome(request) {
    try {
        return { result: await request() };
    } catch (error) {
        return {
            kind: error instanceof ProtocolError ? 'protocol' : 'transport',
            code: error.code,
            message: error.message,
            data: error.data
        };
    }
}

const client = new Client(
    { name: 'genmcp-interop', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } }
);
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));

const seen = { version: client.getNegotiatedProtocolVersion(), server: client.getServerVersion(), failures: {} };
seen.tools = (await client.listTools()).tools.map(tool => tool.name);

const progress = [];
const logs = [];
client.setNotificationHandler('notifications/message', notification => {
    logs.push(notification.params.data);
});
seen.call = await outcome(() =>
    client.callTool(
        { name: 'count', arguments: { to: 3 }, _meta: { 'io.modelcontextprotocol/logLevel': 'info' } },
        { onprogress: report => progress.push(report) }
    )
);
seen.progress = progress;
seen.logs = logs;

seen.refusal = await outcome(() => client.callTool({ name: 'fail', arguments: { way: 'refusal' } }));
seen.bad_arguments = await outcome(() => client.callTool({ name: 'count', arguments: { to: 'three' } }));
seen.failures.unknown_tool = await outcome(() => client.callTool({ name: 'nowhere', arguments: {} }));
for (const way of WAYS) {
    seen.failures[way] = await outcome(() => client.callTool({ name: 'fail', arguments: { way } }));
}

await client.close();
console.log(JSON.stringify(seen));
