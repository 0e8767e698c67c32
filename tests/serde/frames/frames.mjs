// What KafkaJS's @kafkajs/confluent-schema-registry writes and reads: see README.md.
import { readFileSync } from 'node:fs'
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'

const registry = new SchemaRegistry({ host: process.argv[2] })
const AVRO = JSON.stringify({
  type: 'record', name: 'Order', namespace: 'shop', fields: [
    { name: 'id', type: 'long' }, { name: 'note', type: 'string' }, { name: 'price', type: 'double' },
    { name: 'half', type: 'float' }, { name: 'paid', type: 'boolean' }, { name: 'blob', type: 'bytes' },
    { name: 'state', type: { type: 'enum', name: 'State', symbols: ['NEW', 'PAID'] } },
    { name: 'tags', type: { type: 'array', items: 'string' } },
    { name: 'counts', type: { type: 'map', values: 'int' } },
    { name: 'parent', type: ['null', 'Order'], default: null },
  ],
})
const PROTO = `syntax = "proto3"; package shop;
message Other { string x = 1; }
message Order { int32 id = 1; string note = 2; repeated int32 parts = 3; Other other = 4; }`
const JSON_SCHEMA = JSON.stringify({
  $schema: 'http://json-schema.org/draft-07/schema#', title: 'Order', type: 'object',
  properties: { id: { type: 'integer' }, note: { type: 'string' } }, required: ['id'],
})
const order = {
  id: 1234567890123, note: 'hé', price: 0.1, half: 0.5, paid: true, blob: Buffer.from([0, 255]), state: 'PAID',
  tags: ['a', 'b'], counts: { x: -1 }, parent: null,
}
const child = { ...order, id: -1, parent: order }
const cases = [
  ['avro', SchemaType.AVRO, AVRO, [order, child]],
  ['protobuf', SchemaType.PROTOBUF, PROTO, [{ x: 'hé' }]],
  ['json', SchemaType.JSON, JSON_SCHEMA, [{ id: 7, note: 'hé' }]],
  ['protobuf', SchemaType.PROTOBUF, PROTO.replace('shop', 'orders'), [
    { id: 5, note: 'hé', parts: [1, 2, 300], other: { x: 'in' } }, { id: 1 },
  ], { PROTOBUF: { messageName: 'Order' } }],
]

if (process.argv[3]) { // frames of others, one a line in base64, as KafkaJS reads them
  for (const line of readFileSync(process.argv[3], 'utf8').trim().split('\n')) {
    console.log(JSON.stringify(await registry.decode(Buffer.from(line, 'base64'))))
  }
} else {
  const found = []
  for (const [form, type, schema, values, options] of cases) {
    const writer = options ? new SchemaRegistry({ host: process.argv[2] }, options) : registry
    const { id } = await writer.register({ type, schema }, { subject: `kafkajs-${form}${options ? '-named' : ''}-value` })
    for (const value of values) {
      const frame = await writer.encode(id, value)
      found.push({ form, id, schema, frame: frame.toString('base64'), value: JSON.parse(JSON.stringify(value)) })
    }
  }
  console.log(JSON.stringify(found, null, 1))
}
