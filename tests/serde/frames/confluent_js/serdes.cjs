// What Confluent's own client for Node writes and reads. NODE_PATH has its modules.
//   node serdes.cjs write URL TOPIC PLACES   registers schemas, prints frames; PLACES of ids: prefix, header, or both
//   node serdes.cjs read URL                 reads frames, one a line on stdin, prints their values
const { create, createFileRegistry, createRegistry, toJson } = require('@bufbuild/protobuf')
const { FieldDescriptorProto_Label: Label, FieldDescriptorProto_Type: Type, FileDescriptorProtoSchema } =
  require('@bufbuild/protobuf/wkt')
const { SchemaRegistryClient } = require('@confluentinc/schemaregistry/dist/schemaregistry-client.js')
const { AvroDeserializer, AvroSerializer } = require('@confluentinc/schemaregistry/dist/serde/avro.js')
const { JsonDeserializer, JsonSerializer } = require('@confluentinc/schemaregistry/dist/serde/json.js')
const { ProtobufDeserializer, ProtobufSerializer } = require('@confluentinc/schemaregistry/dist/serde/protobuf.js')
const { HeaderSchemaIdSerializer, SerdeType } = require('@confluentinc/schemaregistry/dist/serde/serde.js')

const [mode, url, topic, places] = process.argv.slice(2)
const client = new SchemaRegistryClient({ baseURLs: [url], maxRetries: 0 })

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
const JSON_SCHEMA = JSON.stringify({
  $schema: 'http://json-schema.org/draft-07/schema#', title: 'Order', type: 'object',
  properties: { id: { type: 'integer' }, note: { type: 'string' } }, required: ['id'],
})
const field = (name, number, type, more) => ({ name, jsonName: name, number, type, label: Label.OPTIONAL, ...more })
const FILE = create(FileDescriptorProtoSchema, {
  name: 'shop.proto', package: 'shop', syntax: 'proto3', messageType: [
    { name: 'Other', field: [field('x', 1, Type.STRING)] },
    {
      name: 'Order', field: [
        field('id', 1, Type.INT64), field('note', 2, Type.STRING),
        field('parts', 3, Type.INT32, { label: Label.REPEATED }),
        field('other', 4, Type.MESSAGE, { typeName: '.shop.Other' }),
        field('part', 5, Type.MESSAGE, { typeName: '.shop.Order.Part' }),
      ],
      nestedType: [{ name: 'Part', field: [field('size', 1, Type.SINT32)] }],
    },
  ],
})
const messages = createRegistry(createFileRegistry(FILE, () => undefined).getFile('shop.proto'))
const order = {
  id: 1234567890123, note: 'hé', price: 0.1, half: 0.5, paid: true, blob: Buffer.from([0, 255]), state: 'PAID',
  tags: ['a', 'b'], counts: { x: -1 }, parent: null,
}
const PROTOBUF = [
  ['shop.Order', { id: 1234567890123n, note: 'hé', parts: [1, 2, 300], other: { x: 'in' }, part: { size: -3 } }],
  ['shop.Order', {}], ['shop.Other', { x: 'hé' }], ['shop.Order.Part', { size: -3 }],
].map(([name, value]) => create(messages.getMessage(name), value))

const KINDS = {
  avro: [AvroSerializer, AvroDeserializer, { schemaType: 'AVRO', schema: AVRO }, [order, { ...order, id: -1, parent: order }]],
  json: [JsonSerializer, JsonDeserializer, { schemaType: 'JSON', schema: JSON_SCHEMA }, [{ id: 7, note: 'hé' }]],
  protobuf: [ProtobufSerializer, ProtobufDeserializer, null, PROTOBUF],
}
const shown = (value) => value.$typeName ? toJson(messages.getMessage(value.$typeName), value) : value

async function write () {
  for (const [form, [Serializer, , schema, values]] of Object.entries(KINDS)) {
    for (const place of places.split(',')) {
      const at = `${topic}-${form}`
      if (schema) await client.register(`${at}-value`, schema)
      const write = new Serializer(client, SerdeType.VALUE, {
        ...(schema ? { useLatestVersion: true, validate: true } : { autoRegisterSchemas: true, registry: messages }),
        ...(place === 'header' ? { schemaIdSerializer: HeaderSchemaIdSerializer } : {}),
      })
      for (const value of values) {
        const headers = {}
        const frame = await write.serialize(at, value, headers)
        const given = Object.entries(headers).map(([name, held]) => [name, held.toString('base64')])
        const message = value.$typeName ?? ''
        console.log(JSON.stringify({ form, topic: at, message, headers: given, frame: frame.toString('base64'), value: shown(value) }))
      }
    }
  }
}

async function read () {
  const readers = {}
  for (const line of require('fs').readFileSync(0, 'utf8').trim().split('\n')) {
    const { form, topic, frame, headers } = JSON.parse(line)
    readers[form] ??= new KINDS[form][1](client, SerdeType.VALUE, { validate: true })
    const given = Object.fromEntries(headers.map(([name, held]) => [name, Buffer.from(held, 'base64')]))
    console.log(JSON.stringify(shown(await readers[form].deserialize(topic, Buffer.from(frame, 'base64'), given))))
  }
}

(mode === 'write' ? write() : read()).catch((problem) => {
  console.error(problem)
  process.exit(1)
})
