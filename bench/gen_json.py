"""Makes a trace.json.gz as JAX writes it on a GPU, of any size and always the same. Used by run.sh.

usage: gen_json.py FILE [EVENTS]      1,000,000 events are 188 MB of JSON, in 2 processes, 8 threads
A step is a StepTraceAnnotation with Python frames, jitted calls and launches on the host, and the kernels they launched on 3 streams
of the device, with the args of real ones."""
import gzip, random, sys

path, wanted = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
rng = random.Random(20261121)
FILES = ["model.py", "layers.py", "train.py", "attention.py", "core.py", "pjit.py", "api.py", "contextlib.py", "abc.py", "optimizer.py"]
FRAMES = ["$%s:%d %s" % (rng.choice(FILES), rng.randrange(20, 3000), rng.choice("forward step call bind apply update wrapper __call__ __enter__ get".split())) for _ in range(400)]
KINDS = ["loop_add_multiply_fusion", "input_reduce_fusion", "loop_broadcast_fusion", "gemm_fusion_dot", "wrapped_transpose", "loop_convert_fusion"]
OPS = [(kind + "_%d" % i, kind + ".%d" % i) for i in range(600) for kind in (rng.choice(KINDS),)]
LAYERS = ["jit(train_step)/jvp(Model)/layer%d/%s" % (i, part) for i in range(24) for part in ("attn/dot_general", "mlp/dot_general", "norm/reduce_sum", "add")]
META = '{"ph":"M","pid":%d,"name":"process_name","args":{"name":"%s"}}'
THREAD = '{"ph":"M","pid":%d,"tid":%d,"name":"thread_name","args":{"name":"%s"}}'
FRAME = '{"ph":"X","pid":701,"tid":%d,"ts":%s,"dur":%s,"name":"%s"}'
CALL = '{"ph":"X","pid":701,"tid":421394,"ts":%s,"dur":%s,"name":"%s","args":{"context_id":"$$1","correlation_id":"%d","device_id":"0","scope_range_id":"%d"}}'
STEP = '{"ph":"X","pid":701,"tid":421394,"ts":%s,"dur":%s,"name":"train","args":{"step_num":"%d"}}'
KERNEL = ('{"ph":"X","pid":1,"tid":%d,"ts":%s,"dur":%s,"name":"%s","args":{"context_id":"$$1","correlation_id":"%d","hlo_module":"jit_train_step",'
          '"hlo_op":"%s","occupancy_min_grid_size":"%d","occupancy_suggested_block_size":"1024","scope_range_id":"%d","tf_op":"%s:",'
          '"theoretical_occupancy_pct":"%d"}}')


def us(ns):
    """Microseconds as XLA prints them: as many digits as there are, none for a whole number."""
    return ("%d.%03d" % divmod(ns, 1000)).rstrip("0").rstrip(".")


def events():
    yield META % (1, "/device:GPU:0")
    yield META % (701, "/host:CPU")
    for stream, what in ((14, "Compute"), (15, "MemcpyH2D"), (16, "Compute")):
        yield THREAD % (1, stream, "Stream #%d(%s)" % (stream, what))
    for thread, name in ((421394, "python"), (421395, "tf_pjrt_thread_pool/421395"), (421396, "py_xla_execute/421396")):
        yield THREAD % (701, thread, name)
    made, host, device, correlation, step = 0, 0, {14: 0, 15: 0, 16: 0}, 0, 0
    while made < wanted:
        begin, body = host, []
        for _ in range(120):
            for _ in range(rng.randrange(4)):
                duration = rng.randrange(200, 9000)
                body.append(FRAME % (421394, us(host), us(duration), rng.choice(FRAMES)))
                host += duration + rng.randrange(50, 400)
            correlation += 1
            (name, op), scope, duration = rng.choice(OPS), rng.randrange(10, 900), rng.randrange(1500, 9000)
            body.append(CALL % (us(host), us(duration), name, correlation, scope))
            stream = 16 if correlation % 10 == 0 else 14
            start = max(host + duration + 3000, device[stream] + rng.randrange(200, 900))
            running = rng.randrange(900, 40000)
            body.append(KERNEL % (stream, us(start), us(running), name, correlation, op, rng.randrange(28, 264), scope, rng.choice(LAYERS), rng.choice((25, 50, 75, 100))))
            device[stream] = start + running
            host += duration + rng.randrange(50, 400)
        for thread in (421395, 421396):
            at = begin
            for _ in range(37):
                duration = rng.randrange(300, 3000)
                body.append(FRAME % (thread, us(at), us(duration), rng.choice(("ThreadpoolListener::Record", "Thunks::Execute", "RecordUsage"))))
                at += duration + rng.randrange(100, 900)
        body.append(STEP % (us(begin), us(host - begin), step))
        yield from body[:wanted - made]
        made, step = made + len(body), step + 1


with gzip.GzipFile(path, "wb", 6, mtime=0) as file:
    separator, raw, chunk = b'{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[', 0, []
    for event in events():
        chunk.append(event)
        if len(chunk) == 4096:
            raw += file.write(separator + ",".join(chunk).encode())
            separator, chunk = b",", []
    raw += file.write(separator + ",".join(chunk + ["{}"]).encode() + b"]}")
print(f"{path}: {raw / 1e6:.1f} MB of JSON")
