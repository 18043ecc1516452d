#!/usr/bin/env python3
"""What a new user types first, as it stands in README.md and docs/tutorial.md: each line of theirs that begins with `idsprof capture`, in a
folder with a train.py, and the commands that README.md has behind it, on what was captured.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with jax), TMPDIR.  Exit: 0, 1, 77 = cannot run here.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE, FOLDER, PYTHON = Path(os.environ['IDS_SOURCE_DIR']), Path(os.environ['TMPDIR']) / 'first', os.environ.get('IDS_PYTHON')
if not PYTHON or subprocess.run([PYTHON, '-c', 'import jax'], capture_output=True).returncode:
    print('SKIP: IDS_PYTHON names no Python with jax')
    sys.exit(1 if os.environ.get('IDS_CI') == '1' else 77)
FOLDER.mkdir()
(FOLDER / 'train.py').write_text('''import jax
import jax.numpy as jnp

@jax.jit
def train_step(w, x):
    return w - 0.01 * (x.T @ jnp.tanh(x @ w))

w = jnp.ones((64, 64))
for step in range(200):
    w = train_step(w, jnp.full((32, 64), step % 3)).block_until_ready()
print("trained")
''')
(FOLDER / 'bin').mkdir()
(FOLDER / 'bin' / 'idsprof').symlink_to(os.environ['IDSPROF'])
environment = {**os.environ, 'PATH': f'{Path(PYTHON).parent}:{FOLDER}/bin:{os.environ["PATH"]}', 'JAX_PLATFORMS': 'cpu', 'XDG_CACHE_HOME': f'{FOLDER}/cache'}
failures = 0


def typed(line):
    return subprocess.run(['bash', '-c', line], cwd=FOLDER, env=environment, capture_output=True, text=True, timeout=200)


def check(holds, what):
    global failures
    if not holds:
        failures += 1
        print('FAIL:', what)


def lines_of(page):
    """The commands of its ```sh blocks, without what is said behind them."""
    for block in re.findall(r'^```sh\n(.*?)^```', (SOURCE / page).read_text(encoding='utf-8'), re.S | re.M):
        yield from (line.split('  #')[0].strip() for line in block.splitlines())


for page in 'README.md', 'docs/tutorial.md':
    captures = [line for line in lines_of(page) if re.match(r'idsprof capture\b.* -- python train\.py$', line)]
    check(captures, f'{page} captures nothing')
    for line in captures:
        done = typed(line)
        check(done.returncode == 0 and done.stdout == 'trained\n' and re.search(r'caught +steps \d+-\d+', done.stderr), f'{line}: {done}')
for line in (line for line in lines_of('README.md') if line.startswith('idsprof report profiles')):
    done = typed(line)
    check(done.returncode == 0 and re.search(r'\d+\s+steps', done.stdout) and 'device utilization' in done.stdout, f'{line}: {done}')
    (FOLDER / 'reported').touch()
check((FOLDER / 'reported').exists(), 'README.md reports on no capture')
said = typed('idsprof capture --start-step 10 --steps 3 -- python train.py') # as the tutorial says of short programs
check(re.search(r'caught +steps 10-12', said.stderr), said)
runs = sorted(str(path.parent) for path in (FOLDER / 'profiles').glob('*/plugins'))
check(len(runs) >= 3, runs)
done = typed(f'idsprof diff {runs[0]} {runs[1]}')
check(done.returncode == 0 and 'step time' in done.stdout, done)
print(f'{failures} failures')
sys.exit(failures > 0)
