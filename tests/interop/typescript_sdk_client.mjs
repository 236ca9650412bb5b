// Drives the TypeScript client of the 2025 revisions (the 1.x SDK) and prints what it saw as one JSON object.
//
//     node typescript_sdk_client.mjs URL
//
// The server is the one of everything.py.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
    CreateMessageRequestSchema,
    ElicitRequestSchema,
    LoggingMessageNotificationSchema,
    ResourceUpdatedNotificationSchema,
    ToolListChangedNotificationSchema
} from '@modelcontextprotocol/sdk/types.js';

const WATCHED = 'test://watched-resource';

/** What became of a request: its result, or the error that the client made of the answer. */
async function outcome(request) {
    try {
        return { result: await request() };
    } catch (error) {
        return { code: error.code, message: error.message };
    }
}

/** Wait until something is there, five seconds at most. */
async function eventually(there) {
    for (let tries = 0; tries < 250 && !there(); tries++) {
        await new Promise(resolve => setTimeout(resolve, 20));
    }
}

const client = new Client(
    { name: 'genmcp-interop', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: {} } }
);
const seen = { logs: [], progress: [], questions: [], toolsChanged: 0, updated: [], errors: [] };
client.onerror = error => seen.errors.push(error.message);
client.setRequestHandler(ElicitRequestSchema, request => {
    seen.questions.push(request.params.message);
    return { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } };
});
client.setRequestHandler(CreateMessageRequestSchema, request => {
    seen.questions.push(request.params.messages[0].content.text);
    return { role: 'assistant', model: 'm', content: { type: 'text', text: 'Paris' } };
});
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    seen.logs.push(params.data);
});
client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    seen.toolsChanged += 1;
});
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    seen.updated.push(params.uri);
});

const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
await client.connect(transport);
seen.version = transport.protocolVersion;
seen.session = transport.sessionId;
seen.server = client.getServerVersion();
seen.capabilities = client.getServerCapabilities();
seen.tools = (await client.listTools()).tools.map(tool => tool.name);
seen.ping = await client.ping();
await client.setLoggingLevel('info');

const call = (name, args = {}, options = {}) =>
    outcome(() => client.callTool({ name, arguments: args }, undefined, options));
seen.text = await call('test_simple_text');
seen.logged = await call('test_tool_with_logging');
seen.reported = await call('test_tool_with_progress', {}, { onprogress: report => seen.progress.push(report.progress) });
seen.elicited = await call('test_elicitation', { message: 'Who are you?' });
seen.sampled = await call('test_sampling', { prompt: 'Which city?' });
seen.resumed = await call('test_reconnection');
seen.unknown = await call('nowhere');
seen.missing = await outcome(() => client.readResource({ uri: 'test://nothing/here' }));

await client.subscribeResource({ uri: WATCHED });
await call('test_trigger_resource_update', { uri: WATCHED });
await call('test_trigger_tool_change');
await eventually(() => seen.updated.length > 0 && seen.toolsChanged > 0);

const abort = new AbortController();
setTimeout(() => abort.abort('no longer wanted'), 100);
seen.aborted = await call('test_hold', {}, { signal: abort.signal });
seen.held = await call('test_held');
for (let tries = 0; tries < 100 && !JSON.stringify(seen.held).includes('1 cancelled'); tries++) {
    seen.held = await call('test_held');
}

await transport.terminateSession();
seen.afterwards = await call('test_simple_text');
await client.close();
console.log(JSON.stringify(seen));
