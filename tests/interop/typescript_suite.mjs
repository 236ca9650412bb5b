// Drives the official TypeScript client against everything.py beside its tools and prints what it saw as one JSON object.
//
//     node typescript_suite.mjs URL

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const client = new Client(
    { name: 'genmcp-interop', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } }
);

const seen = { questions: [], heard: [] };
client.setRequestHandler('elicitation/create', request => {
    seen.questions.push(request.params.message);
    return { action: 'accept', content: { name: 'Ada' } };
});
const updated = new Promise(resolve => {
    client.setNotificationHandler('notifications/resources/updated', notification => {
        seen.heard.push(notification.params.uri);
        resolve();
    });
});
client.setNotificationHandler('notifications/tools/list_changed', () => {
    seen.heard.push('tools');
});
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));

seen.resource = await client.readResource({ uri: 'test://static-binary' });
seen.read = await client.readResource({ uri: 'test://template/7/data' });
seen.resources = (await client.listResources()).resources.map(resource => resource.uri);
seen.prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'one', arg2: 'two' } });
seen.completion = await client.complete({
    ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' },
    argument: { name: 'arg1', value: 'testi' }
});
seen.answered = await client.callTool({ name: 'test_input_required_result_elicitation', arguments: {} });

const watched = 'test://watched-resource';
const subscription = await client.listen({ resourceSubscriptions: [watched], promptsListChanged: true });
seen.honored = subscription.honoredFilter;
await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
await client.callTool({ name: 'test_trigger_resource_update', arguments: { uri: watched } });
await Promise.race([updated, new Promise(resolve => setTimeout(resolve, 5000))]);
await subscription.close();
seen.closed = await subscription.closed;

await client.close();
console.log(JSON.stringify(seen));
