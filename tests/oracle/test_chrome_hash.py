#!/usr/bin/env python3
"""As test_hash.py, for JSON traces: `idsprof dump --hash --json FILE` must equal what chrome_oracle.py decodes of FILE, and the
rows of a database that `idsprof import` makes of it are those (test_db_hash.py).

The files: those made by hand below, every *.json and *.json.gz under testdata/json, the shared traces, and copies of some of them
whose events are in another order. Of a large one both ends are compared, because the oracle takes a minute for 50 MB.
Environment and exit codes as test_hash.py.

    test_chrome_hash.py [NAME ...]     only files whose name has one of these in it, and large ones whole
"""
import gzip
import os
import sys
import tempfile
from pathlib import Path

import chrome_oracle
import test_db_hash
import test_hash

# In another order: one as JAX writes it (arguments are texts, no cat), one of Kineto with flows, times with fractions and GPUs that
# only the category of their events tells, and one whose metadata comes last.
SHUFFLED = ('tpu_vllm_after', 'kineto_nccl_a100', 'kineto_2of128_ranks')
SEED = 20261121
LARGE = 16 << 20  # bytes of JSON

DEEP = b'[' * 60 + b'1' + b']' * 60


def events(*lines, head=b'', tail=b''):
    return b'{' + head + b'"traceEvents": [\n' + b',\n'.join(lines) + b'\n]' + tail + b'}\n'


X = b'{"ph":"X","pid":1,"tid":2,"ts":%s,"dur":%s,"name":"x"}'

HAND_MADE = {
    # Nested calls out of order; E's own args after B's; an E too many; two B that nothing ends, which end where the X does, at 90.
    'begin_end': events(
        b'{"ph":"E","pid":1,"tid":1,"ts":40,"args":{"end":1}}',
        b'{"ph":"B","pid":1,"tid":1,"ts":10,"name":"outer","cat":"c","args":{"a":"1"}}',
        b'{"ph":"E","pid":1,"tid":1,"ts":30,"name":"inner"}',
        b'{"ph":"B","pid":1,"tid":1,"ts":20,"name":"inner"}',
        b'{"ph":"B","pid":1,"tid":2,"ts":20,"name":"other thread"}',
        b'{"ph":"E","pid":1,"tid":2,"ts":25}',
        b'{"ph":"B","pid":2,"tid":1,"ts":21,"name":"other process"}',
        b'{"ph":"E","pid":2,"tid":1,"ts":22,"args":{}}',
        b'{"ph":"E","pid":1,"tid":3,"ts":5,"name":"never begun"}',
        b'{"ph":"B","pid":1,"tid":3,"ts":50,"name":"open"}',
        b'{"ph":"B","pid":1,"tid":3,"ts":60,"name":"open too"}',
        b'{"ph":"X","pid":1,"tid":3,"ts":55,"dur":35,"name":"last"}'),
    # At one time the file's order counts: the first pair is of no length, then E of the outer and B of the next.
    'begin_end_ties': events(
        b'{"ph":"B","pid":1,"tid":1,"ts":10,"name":"a"}', b'{"ph":"E","pid":1,"tid":1,"ts":10}',
        b'{"ph":"B","pid":1,"tid":1,"ts":10,"name":"b"}', b'{"ph":"E","pid":1,"tid":1,"ts":20}',
        b'{"ph":"B","pid":1,"tid":1,"ts":20,"name":"c"}', b'{"ph":"E","pid":1,"tid":1,"ts":20.5}'),
    'async': events(
        b'{"ph":"b","pid":1,"tid":1,"ts":1,"cat":"net","id":"0x1","name":"load","args":{"url":"u"}}',
        b'{"ph":"b","pid":1,"tid":9,"ts":2,"cat":"net","id":"0x1","name":"wait"}',
        b'{"ph":"n","pid":1,"tid":1,"ts":2.5,"cat":"net","id":"0x1","name":"tick"}',
        b'{"ph":"e","pid":1,"tid":1,"ts":3,"cat":"net","id":"0x1","name":"wait","args":{"code":200}}',
        b'{"ph":"e","pid":1,"tid":1,"ts":8,"cat":"net","id":"0x1","name":"load"}',
        b'{"ph":"b","pid":1,"tid":1,"ts":2,"cat":"net","id":"0x2","name":"overlaps"}',
        b'{"ph":"e","pid":1,"tid":1,"ts":9,"cat":"net","id":"0x2","name":"overlaps"}',
        b'{"ph":"b","pid":1,"tid":1,"ts":4,"cat":"disk","id":"0x1","name":"another category"}',
        b'{"ph":"e","pid":1,"tid":1,"ts":5,"cat":"disk","id":"0x1","name":"another category"}',
        b'{"ph":"b","pid":2,"tid":1,"ts":4,"cat":"net","id":"0x1","name":"another process"}',
        b'{"ph":"e","pid":2,"tid":1,"ts":6,"cat":"net","id":"0x1","name":"another process"}',
        b'{"ph":"S","pid":1,"tid":1,"ts":30,"cat":"old","id":7,"name":"old"}',
        b'{"ph":"T","pid":1,"tid":1,"ts":31,"cat":"old","id":7,"name":"old","args":{"step":"s"}}',
        b'{"ph":"p","pid":1,"tid":1,"ts":32,"cat":"old","id":7,"name":"old"}',
        b'{"ph":"F","pid":1,"tid":1,"ts":33,"cat":"old","id":7,"name":"old"}',
        b'{"ph":"e","pid":1,"tid":1,"ts":0.5,"cat":"net","id":"0x9","name":"never begun"}'),
    'instants_counters_flows': events(
        b'{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"launch"}',
        b'{"ph":"s","pid":1,"tid":1,"ts":1,"id":3,"cat":"ac2g","name":"ac2g"}',
        b'{"ph":"t","pid":1,"tid":2,"ts":5,"id":3,"cat":"ac2g","name":"ac2g"}',
        b'{"ph":"f","pid":1,"tid":2,"ts":20,"id":3,"cat":"ac2g","name":"ac2g","bp":"e"}',
        b'{"ph":"i","pid":1,"tid":1,"ts":2,"name":"now","s":"t"}', b'{"ph":"I","pid":1,"tid":1,"ts":3,"name":"now"}',
        b'{"ph":"R","pid":1,"tid":1,"ts":3,"name":"mark","args":{"k":null}}',
        b'{"ph":"C","pid":1,"tid":1,"ts":4,"name":"memory","args":{"used":10,"free":2.5}}',
        b'{"ph":"C","pid":1,"tid":7,"ts":5,"name":"memory","id":"x","args":{"used":"11"}}',
        b'{"ph":"C","pid":2,"ts":5,"name":"memory","args":{"used":1}}'),
    'metadata': events(
        b'{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"before its names"}',
        b'{"ph":"M","pid":1,"name":"process_name","args":{"name":"first"}}',
        b'{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"first"}}',
        b'{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"last"}}',
        b'{"ph":"M","pid":1,"name":"process_name","args":{"name":"last \\u00fc"}}',
        b'{"ph":"M","pid":1,"name":"process_labels","args":{"labels":"CPU"}}',
        b'{"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":-5}}',
        b'{"ph":"M","pid":1,"tid":1,"name":"thread_sort_index","args":{"sort_index":3}}',
        b'{"ph":"M","pid":1,"name":"num_cpus","args":{"number":4}}', b'{"ph":"M","pid":2,"name":"process_name","args":{"name":"alone"}}',
        b'{"ph":"M","pid":1,"tid":6,"name":"thread_name","args":{"name":"alone"}}',
        b'{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:TPU:0"}}',
        b'{"ph":"M","pid":3,"name":"process_labels","args":{"labels":"l"}}',
        b'{"ph":"X","pid":3,"tid":2,"ts":2,"dur":1,"name":"op"}', b'{"ph":"X","pid":4,"ts":2,"dur":1,"name":"no name, no thread"}', b'{}'),
    # GPUs by the category of an event, which may be the last of the file, and their properties, which may follow.
    'kineto': events(
        b'{"ph":"M","pid":0,"tid":0,"ts":0,"name":"process_name","args":{"name":"python"}}',
        b'{"ph":"M","pid":0,"tid":0,"ts":0,"name":"process_labels","args":{"labels":"GPU 0"}}',
        b'{"ph":"M","pid":0,"tid":7,"ts":0,"name":"thread_name","args":{"name":"stream 7 "}}',
        b'{"ph":"X","cat":"gpu_user_annotation","pid":0,"tid":7,"ts":100,"dur":50,"name":"ProfilerStep#1"}',
        b'{"ph":"X","cat":"cuda_sync","pid":0,"tid":7,"ts":150,"dur":1,"name":"Stream Synchronize"}',
        b'{"ph":"f","id":9,"pid":0,"tid":7,"ts":110,"cat":"ac2g","name":"ac2g","bp":"e"}',
        b'{"ph":"X","pid":0,"tid":7,"ts":160,"dur":1,"name":"without a category"}',
        b'{"ph":"X","cat":"kernel","pid":0,"tid":7,"ts":110,"dur":20,"name":"k","args":{"device":0,"stream":7,"grid":[1, 2, 3],'
        b'"block": [ 32,1,1 ],"est. achieved occupancy %":0}}',
        b'{"ph":"X","cat":"gpu_memcpy","pid":1,"tid":3,"ts":120,"dur":2,"name":"Memcpy HtoD (Pageable -> Device)","args":{"bytes":4}}',
        b'{"ph":"X","cat":"gpu_memset","pid":"2","tid":"4","ts":120,"dur":2,"name":"Memset (Device)"}',
        b'{"ph":"X","cat":"Trace","pid":"Spans","tid":"PyTorch Profiler","ts":1,"dur":500,"name":"PyTorch Profiler (0)"}',
        b'{"ph":"i","s":"g","pid":"","tid":"","ts":501,"name":"Record Window End"}',
        tail=b', "deviceProperties": [{"id": 0, "name": "Tesla \\"V\\"", "totalGlobalMem": 17179869184, "computeMajor": 7, '
        b'"computeMinor": 0, "numSms": 80}, {"id": 1, "name": "other"}, {"id": 5, "name": "no plane"}], '
        b'"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}'),
    'values': events(
        b'{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"numbers","args":{"zero":0,"minus":-1,"max":9223372036854775807,'
        b'"min":-9223372036854775808,"u":9223372036854775808,"umax":18446744073709551615,"above":18446744073709551616,'
        b'"below":-9223372036854775809,"huge":123456789012345678901234567890,"pi":3.14159265358979,"tenth":0.1,"exp":1e3,'
        b'"EXP":-2.5E-7,"plus":4e+2,"long":0.1000000000000000055511151231257827021181583404541015625,"tiny":5e-324,"big":1.7976931348623157e308,'
        b'"half":9007199254740993.0,"one":1.0}}',
        b'{"ph":"X","pid":1,"tid":1,"ts":2,"dur":1,"name":"others","args":{"t":true,"f":false,"n":null,"e":{},"l":[],"s":"",'
        b'"nested":{"a" : [ 1 , "x y\\" ] }" , {"b":\tnull}],\n "c": "\\u0041 \\n"},"deep":' + DEEP + b'}}',
        b'{"ph":"X","pid":1,"tid":1,"ts":3,"dur":1,"name":"not an object","args":[1, 2]}',
        b'{"ph":"X","pid":1,"tid":1,"ts":4,"dur":1,"name":"empty","args":{}}',
        b'{"ph":"X","pid":1,"tid":1,"ts":5,"dur":1,"name":"of the event","cat":"c","id":"0x5","tts":7,"tdur":1.5,"sf":12,'
        b'"stack":["a", "b"],"args":{"cat":"inner"}}'),
    'texts': events(
        b'{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"\\"\\\\\\/\\b\\f\\n\\r\\t","args":{"\\u006bey":"\\u00e4\\u20AC\\ud83d\\ude00"}}',
        b'{"ph":"X","pid":1,"tid":1,"ts":2,"dur":1,"name":"lone","args":{"high":"a\\ud83db","low":"\\ude00","two":"\\ud83d\\ud83d\\ude00",'
        b'"reversed":"\\ude00\\ud83d","high then other":"\\ud83d\\u0041","at end":"\\ud83d"}}',
        b'{"ph":"X","pid":1,"tid":1,"ts":3,"dur":1,"name":"raw \xc3\xa4 \xf0\x9f\x98\x80","args":{"broken":"\xff\xfe\xc0\xaf"}}',
        b'{"ph":"X","pid":1,"tid":1,"ts":4,"dur":1,"name":"nul \\u0000 in it","args":{"nul":"\\u0000","":"empty key","sep":"\\u001f"}}',
        b'{"ph":"X","pid":1,"tid":1,"ts":6,"dur":1}', b'{"ph":"X","pid":1,"tid":1,"ts":7,"dur":1,"name":""}'),
    'texts_long': events(
        b'{"ph":"X","pid":1,"tid":1,"ts":5,"dur":1,"name":"' + b'long' * 30000 + b'","args":{"' + b'k' * 300 + b'":"' + b'v\\n' * 20000 + b'"}}'),
    # Times are exact to the picosecond: what is below is rounded.
    'times': events(*(X % pair for pair in (
        (b'0', b'0'), (b'0.000001', b'0.000001'), (b'0.0000019', b'0.0000009'), (b'-0.0000019', b'1'), (b'-5.25', b'0.5'),
        (b'1.5e3', b'2E-3'), (b'12.5e-1', b'1e0'), (b'"7.25"', b'"3"'), (b'"1e2"', b'"2.5E1"'), (b'100.1', b'0.3'),
        (b'999999999.999999', b'1e-6'), (b'123456.7890123456789', b'2.0000000000000000000001'), (b'3.670', b'0.10'),
        (b'64559.813999999998', b'1.9199999999999999'), (b'1.0000005', b'1.00000049999'),
        (b'-1.0000005', b'0.0000004'), (b'0.1e1', b'1000000e-6'), (b'5', b'-1'))),
        b'{"ph":"X","pid":1,"tid":2,"ts":20,"name":"no dur"}', b'{"ph":"X","pid":1,"tid":2,"name":"no ts","dur":3}',
        b'{"ph":"X","pid":5,"tid":2,"name":"no ts either","dur":3}'),
    'times_epoch': events(X % (b'1700000000000000.123456', b'1.000001'), X % (b'1700000000000999.9999999', b'0.5'),
                          X % (b'1699999999999999.5', b'2'), X % (b'1700000060000000', b'60000000'),
                          head=b'"baseTimeNanoseconds": 0, '),
    'times_kineto': events(X % (b'4458676416431.397', b'12.034'), X % (b'4458676416430.001', b'0.001'),
                           head=b'"displayTimeUnit": "ms", "baseTimeNanoseconds": 1711964646000000000, '),
    'ids': events(
        b'{"ph":"X","pid":"7","tid":"8","ts":1,"dur":1,"name":"quoted numbers"}', b'{"ph":"X","pid":7,"tid":8,"ts":2,"dur":1,"name":"the same"}',
        b'{"ph":"X","pid":-7,"tid":-8,"ts":2,"dur":1,"name":"negative"}', b'{"ph":"X","pid":"-7","tid":"-8","ts":3,"dur":1,"name":"negative"}',
        b'{"ph":"X","pid":"main","tid":"worker","ts":2,"dur":1,"name":"texts"}', b'{"ph":"X","pid":"7a","tid":"8 ","ts":2,"dur":1,"name":"texts"}',
        b'{"ph":"X","pid":9223372036854775807,"tid":-9223372036854775808,"ts":2,"dur":1,"name":"widest"}',
        b'{"ph":"M","pid":"main","tid":"worker","name":"thread_name","args":{"name":"called so"}}',
        b'{"ph":"X","pid":1,"tid":140737488355327,"ts":2,"dur":1,"name":"pthread"}'),
    'phases_unknown': events(
        X % (b'1', b'1'), b'{"ph":"N","pid":1,"tid":1,"ts":1,"id":"0x1","name":"object"}', b'{"ph":"O","pid":1,"tid":1,"ts":1,"id":"0x1"}',
        b'{"ph":"c","pid":1,"tid":1,"ts":1,"name":"clock_sync"}', b'{"ph":"?","pid":9,"tid":1,"ts":1,"name":"unknown"}',
        b'{"ph":"XX","pid":9,"tid":1,"ts":1,"name":"unknown"}', b'{"pid":9,"tid":1,"ts":1,"name":"no phase"}', b'{ }'),
    'duplicate_keys': events(
        b'{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"first","name":"last","ts":2,"args":{"k":1,"k":2}}'),
    'array': b'[\n' + X % (b'1', b'1') + b',\n' + X % (b'5', b'1') + b'\n]\n',
    'array_empty_elements': b'[{},' + X % (b'1', b'1') + b',{},{}]',
    'array_open': b'[\n' + X % (b'1', b'1') + b',\n' + X % (b'5', b'1') + b'\n',
    'array_open_comma': b'[\n' + X % (b'1', b'1') + b',\n' + X % (b'5', b'1') + b',\n',
    'object_open': b'{"displayTimeUnit":"ns","traceEvents":[' + X % (b'1', b'1') + b',' + X % (b'5', b'1'),
    'object_not_closed': b'{"displayTimeUnit":"ns","traceEvents":[' + X % (b'1', b'1') + b',' + X % (b'5', b'1') + b']',
    'members_around': b' \r\n\t{ "a" : { "traceEvents" : [ {"ph":"X","ts":1,"name":"not these"} ], "t" : "]}" } , "n":null, "traceEvents"\n:\n[ '
                      + X % (b'1', b'1') + b' , ' + X % (b'5', b'1') + b' ] , "otherData" : { "traceEvents":[{"ph":"X","ts":1}] }, '
                      b'"stackFrames":{"1":{"name":"f"}}, "samples":[], "s":"\\"traceEvents\\":[", "x": [[[]]] } \n',
    'spread': events(b'{ "ph" :\t"X" ,\r\n"pid" : 1 , "tid":2, "ts" : 1.5 , "dur": 2 , "name" : "x" , "args" : { "k" : [ ] , "l" : { } } }'),
    'long_whitespace': events(b' ' * 300000 + X % (b'1', b'1') + b'\n' * 300000, X % (b'5', b'1')),
    'many': events(*(b'{"ph":"X","pid":%d,"tid":%d,"ts":%d.%03d,"dur":0.%d,"name":"op %d","args":{"i":%d}}'
                     % (i % 3, i % 7, 5000 - i, i % 1000, i % 10, i % 50, i) for i in range(5000))),
}


def files(folder):
    """(title, path) of everything to compare; what is made lies in `folder`."""
    for name, data in HAND_MADE.items():
        for ending, packed in (('.trace.json', data), ('.trace.json.gz', gzip.compress(data, mtime=0))):
            path = folder / (name + ending)
            path.write_bytes(packed)
            yield 'by hand: ' + path.name, path
    for path in sorted((test_hash.SOURCE / 'testdata').rglob('*.json*')):
        if 'json' in path.parts or path.name.endswith('.trace.json.gz'):
            yield str(path), path
    for path in sorted((test_hash.SHARED / 'traces').rglob('*.json.gz')):
        # The sanitizers' build takes ten times as long; the release build reads them all.
        if os.environ.get('IDS_SANITIZE') == '1' and path.stat().st_size > 1000000:
            continue
        data = chrome_oracle.content(path)
        if len(data) > LARGE and not sys.argv[1:]:
            both = folder / ('ends_of_' + path.parent.name + '.json')
            both.write_bytes(chrome_oracle.ends(data, LARGE // 4))
            yield 'both ends: ' + str(path), both
        else:
            yield str(path), path
        if any(name in path.parts for name in SHUFFLED):
            other = folder / ('shuffled_' + path.name.removesuffix('.gz'))
            other.write_bytes(chrome_oracle.shuffled(data, SEED))
            yield 'in another order: ' + path.name, other


def main():
    idsprof = os.environ.get('IDSPROF')
    if not idsprof or not os.access(idsprof, os.X_OK):
        test_hash.absent('IDSPROF names no program (%s)' % idsprof)
    count = failed = shared = 0
    with tempfile.TemporaryDirectory() as folder:
        for title, path in files(Path(folder)):
            if sys.argv[1:] and not any(part in title for part in sys.argv[1:]):
                continue
            planes = chrome_oracle.load(path)
            wrong = test_hash.compare(idsprof, path, planes) + test_db_hash.differences(path, planes, folder)
            print('%s %s' % ('FAIL' if wrong else 'ok  ', title), flush=True)
            for line in wrong:
                print('     ' + line)
            count, failed = count + 1, failed + bool(wrong)
            shared += test_hash.SHARED in path.parents
            if not any(line.events for plane in planes for line in plane.lines):
                print('FAIL %s: the oracle finds no event in it' % title)
                failed += 1
    print('%d of %d traces equal' % (count - failed, count))
    if failed:
        return 1
    if not shared and not sys.argv[1:]:
        print('%s: %s holds no traces: only files made here were compared'
              % ('FAIL' if test_hash.CI else 'NOTE', test_hash.SHARED / 'traces'))
        return int(test_hash.CI)
    return 0


if __name__ == '__main__':
    sys.exit(main())
