#!/usr/bin/env python3
"""The official Python client of the Model Context Protocol talks to `idsprof mcp`: both eras of the protocol, every tool against the schema
that it declares, progress, cancellation, failures. And a session finds the planted recompilation by itself: it lists a folder of runs,
reports on each, and explains what the worst one lost most to. No path, id or name is given to it but the folder.

Environment: IDSPROF, IDS_SOURCE_DIR, IDS_PYTHON (a Python with mcp); XDG_CACHE_HOME is the test's own.  Exit: 0, 1, 77 = cannot run here.
"""
import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

from peer import IDSPROF, SOURCE, needs

needs('mcp', 'jsonschema')
import jsonschema  # noqa: E402
from mcp import StdioServerParameters  # noqa: E402
from mcp.client.client import Client  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402

TESTDATA = SOURCE / 'testdata'
failures = []


def check(ok, message):
    if not ok:
        failures.append(message)


def same(what, got, wanted):
    check(got == wanted, f'{what}: {got!r}, not {wanted!r}')


def client(folder, mode='auto'):
    # The client hands on no environment of its own but what it is told.
    env = {name: value for name, value in os.environ.items() if name.startswith(('XDG_', 'ASAN_', 'UBSAN_', 'LSAN_', 'TMPDIR'))}
    server = StdioServerParameters(command=str(Path(IDSPROF).resolve()), args=['mcp'], cwd=str(folder), env=env)
    return Client(stdio_client(server), mode=mode)


async def answer(session, tool, **arguments):
    """What a tool says, held against the schema that it declares; None when it refused."""
    result = await session.call_tool(tool, arguments)
    if result.is_error:
        return None
    schema = next(one.output_schema for one in (await session.list_tools()).tools if one.name == tool)
    jsonschema.validate(result.structured_content, schema)
    check(result.content[0].type == 'text' and result.content[0].text, f'{tool} {arguments}: no text')
    return result.structured_content


# ---- finding the planted cause ----

async def detective(folder):
    """Three kinds of calls, chosen by what the answers say. Returns the run, the account and the culprit."""
    async with client(folder) as session:
        runs = (await answer(session, 'list'))['runs']
        worst, lost = None, -1.0
        for run in runs:
            report = await answer(session, 'report', **run['open'])
            first = next(iter(report['advice']), None)
            if first and first.get('saves', 0) > lost:
                worst, lost = (run, first), first['saves']
        run, first = worst
        found = await answer(session, 'explain', id=first['explain'], **run['open'])
        ledger = next(table for table in found['tables'] if table['id'] == 'ledger')
        intervals = next(table for table in found['tables'] if table['id'] == 'intervals')
        culprit = max(ledger['rows'], key=lambda row: row[ledger['columns'].index('time')])[ledger['columns'].index('culprit')]
        steps = {row[intervals['columns'].index('step')] for row in intervals['rows'] if row[intervals['columns'].index('culprit')] == culprit}
        return run['name'], found['id'], culprit, steps, found


async def check_detective():
    with tempfile.TemporaryDirectory() as folder:
        for name in 'base', 'transfer', 'recompile':
            shutil.copytree(TESTDATA / 'compare' / name, Path(folder) / name)
        name, account, culprit, steps, found = await detective(folder)
    same('the run with the planted recompilation', name, 'recompile')
    same('the account', account, 'host.compile')
    same('the function that is compiled again', culprit, 'score')
    check(len([step for step in steps if step is not None]) >= 3, f'the steps in which it is: {steps}')
    check('compile' in found['definition'], found['definition'])


# ---- conformance ----

async def check_tools(mode, version):
    async with client(TESTDATA, mode) as session:
        same(f'{mode}: version', session.protocol_version, version)
        same(f'{mode}: server', session.server_info and session.server_info.name, 'idsprof')
        check('list' in session.instructions, f'{mode}: instructions')
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        same(f'{mode}: tools', sorted(tools), ['diff', 'explain', 'list', 'query', 'report', 'timeline'])
        for tool in tools.values():
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            jsonschema.Draft202012Validator.check_schema(tool.output_schema)
            check(tool.annotations.read_only_hint, f'{tool.name} only reads')
        run = {'path': 'cpu8_annotated'}
        for tool, arguments in (('list', {'newest': 3}), ('report', run), ('report', {**run, 'sections': ['ops', 'idle_gaps'], 'top': 0}),
                                ('explain', {**run, 'id': 'idle.share'}), ('explain', {**run, 'id': 'gaps'}),
                                ('timeline', {**run, 'from': 0.002, 'to': 0.003}), ('timeline', {**run, 'steps': '1'}),
                                ('query', {**run, 'sql': 'SELECT 1 AS one'}),
                                ('diff', {'before': 'compare/base', 'after': 'compare/recompile'})):
            check(await answer(session, tool, **arguments) is not None, f'{mode}: {tool} {arguments} failed')
        check(await answer(session, 'report', path='/etc') is None, f'{mode}: /etc was opened')
        refusal = await session.call_tool('report', {'path': '/etc'})
        check('--root' in refusal.content[0].text, f'{mode}: the refusal says no way out: {refusal.content[0].text}')
        try:
            await session.call_tool('nothing', {})
            check(False, f'{mode}: an unknown tool was called')
        except MCPError as error:
            same(f'{mode}: code of an unknown tool', error.code, -32602)
        if mode == 'legacy':
            await session.send_ping()


async def check_progress():
    told = []

    async def tell(progress, total, message):
        told.append((progress, message))

    async with client(TESTDATA) as session:
        await session.call_tool('query', {'path': 'cpu1_compile_py', 'sql': 'SELECT count(*) FROM events'}, progress_callback=tell)
    check(told and all(message for _, message in told), f'progress of an import: {told}')
    same('progress only grows', [number for number, _ in told], sorted({number for number, _ in told}))


async def check_cancelling():
    forever = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
    async with client(TESTDATA) as session:
        await session.call_tool('query', {'path': 'cpu1_plain', 'sql': 'SELECT 1'})
        begin = asyncio.get_running_loop().time()
        try:
            await asyncio.wait_for(session.call_tool('query', {'path': 'cpu1_plain', 'sql': forever, 'seconds': 600}), 1)
            check(False, 'a query without end ended')
        except (asyncio.TimeoutError, TimeoutError):
            pass
        rows = await answer(session, 'query', path='cpu1_plain', sql='SELECT 2')
        same('after a cancelled query', rows['rows'], [[2]])
        took = asyncio.get_running_loop().time() - begin
        check(took < 60 * float(os.environ.get('IDS_TIME_FACTOR', '10')) / 10, f'a cancelled query held the server up for {took:.1f} s')


async def main():
    await check_detective()
    await check_tools('auto', '2026-07-28')
    await check_tools('legacy', '2025-11-25')
    await check_progress()
    await check_cancelling()
    for failure in failures:
        print('FAIL:', failure)
    return bool(failures)


if __name__ == '__main__':
    sys.exit(asyncio.run(main()))
