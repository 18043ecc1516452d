"""A PyTorch loop, for cuda.py: `torch_loop.py ITERATIONS capture|profiler OUT`. `capture`: the loop is the NVTX range "loop" and
nothing else records it; `profiler`: torch.profiler records the same loop, and OUT gets its kernels as {name: [microseconds]}."""
import json
import sys
import time

import torch

iterations, mode, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
x = torch.randn(2048, 2048, device='cuda')
w = torch.randn(2048, 2048, device='cuda')
host = torch.randn(1 << 18).pin_memory()


def loop():
    y = x
    for _ in range(iterations):
        y = torch.nn.functional.gelu(y @ w)
        y = torch.softmax(y, dim=-1) + host.to('cuda', non_blocking=True)[0]
    return y.sum().item()


loop()
torch.cuda.synchronize()
if mode == 'profiler':
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profiler:
        loop()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(out + '.trace')
    kernels = {}
    for event in json.load(open(out + '.trace'))['traceEvents']:
        if event.get('cat') == 'kernel':
            kernels.setdefault(event['name'], []).append(event['dur'])
    json.dump(kernels, open(out, 'w'))
else:
    torch.cuda.nvtx.range_push('loop')
    begun = time.monotonic()
    loop()
    torch.cuda.synchronize()
    took = time.monotonic() - begun
    torch.cuda.nvtx.range_pop()
    json.dump({'seconds': took}, open(out, 'w'))
