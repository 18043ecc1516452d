"""A fleet's summary for people, as JSON and as CSV."""
import csv
import json
import re
import shutil
import sys
import textwrap

FAILURES_SHOWN, ALIKE = 10, 3
HARMFUL = re.compile('[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]')
NAME_LEAST, CULPRIT_LEAST = 12, 12
LEAST_WIDTH = 40
SMALL = 0.001           # of all devices: a smaller account is left out
OPTIONAL = {1: ('1',), 5: ('-',), 8: ('-', '0.0 %'), 9: ('-', '0 s'), 11: ('-',)}       # columns of runs that say nothing if all rows say this


def clean(text):
    """What others wrote, without what would steer a terminal."""
    return HARMFUL.sub('\N{REPLACEMENT CHARACTER}', text)


def time(seconds):
    """As the program writes times: 4 digits."""
    if seconds is None:
        return '-'
    if not seconds:
        return '0 s'
    for unit, factor in (('s', 1), ('ms', 1e3), ('us', 1e6), ('ns', 1e9)):
        value = abs(seconds) * factor
        if value >= 0.99995 or unit == 'ns':
            return '%s%.*f %s' % ('-' if seconds < 0 else '', 3 if value < 9.9995 else 2 if value < 99.995 else 1, value, unit)


def share(value):
    return '-' if value is None else '%.1f %%' % (100 * value)


def count(number, noun):
    return '%d %s%s' % (number, noun, '' if number == 1 else 's')


def cut(text, width):
    """The middle goes: both ends tell names apart."""
    if len(text) <= width:
        return text
    left = (width - 1) // 2
    return text[:left] + '\N{HORIZONTAL ELLIPSIS}' + text[len(text) - (width - 1 - left):]


# --- tables -------------------------------------------------------------------------------------------------------------

def table(head, rows, width, flexible):
    """Lines of columns; those in `flexible` (index: least width) are cut until a line fits. Numbers stand right (a head that begins with >)."""
    right = [name.startswith('>') for name in head]
    cells = [[name.lstrip('>') for name in head], *rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    over = sum(widths) + 2 * len(widths) - width
    while over > 0:             # the widest gives way
        at = max(flexible, key=lambda column: widths[column] - flexible[column], default=None)
        if at is None or widths[at] <= flexible[at]:
            break
        widths[at] -= 1
        over -= 1
    lines = []
    for row in cells:
        shown = [cut(cell, widths[at]) for at, cell in enumerate(row)]
        lines.append('  ' + '  '.join(cell.rjust(widths[at]) if right[at] else cell.ljust(widths[at]) for at, cell in enumerate(shown)).rstrip())
    return lines


def fitted(head, rows, width, flexible, droppable):
    """As table(); columns that are `droppable`, in this order, go where the lines do not fit otherwise. Columns are known by their heads."""
    kept = list(range(len(head)))
    for name in [None, *droppable]:
        kept = [at for at in kept if head[at] != name]
        lines = table([head[at] for at in kept], [[row[at] for at in kept] for row in rows], width,
                      {kept.index(at): flexible[head[at]] for at in kept if head[at] in flexible})
        if max(map(len, lines)) <= width:
            break
    return lines


def wrapped(line, width):
    """The lines of one: what follows stands further in."""
    indent = line[:len(line) - len(line.lstrip())]
    return textwrap.wrap(line.lstrip(), width, initial_indent=indent, subsequent_indent=indent + '  ', break_long_words=False,
                         break_on_hyphens=False) or [line]


def _hosts(row):
    return '%d' % row['hosts'] if row['hosts_read'] == row['hosts'] else '%d of %d' % (row['hosts_read'], row['hosts'])


def _culprit(row):
    return clean(' '.join(str(part) for part in (row['culprit'], row['where']) if part)) or '-'


def runs_table(rows, width):
    head = ['run', '>hosts', '>dev.', '>steps', '>step', '>usual', '>busy', '>idle', '>coll.', '>compile', 'first', 'culprit']
    lines = [[clean(row['name']), _hosts(row), '%d' % row['devices'], '-' if row['steps'] is None else '%d' % row['steps'], time(row['step']),
              '-' if row['factor'] is None else '%.2f x' % row['factor'], share(row['utilization']), share(row['idle']), share(row['collectives']),
              time(row['compile']), row['account'] or '-', _culprit(row)] for row in rows]
    said = [at for at in range(len(head)) if at not in OPTIONAL or any(line[at] not in OPTIONAL[at] for line in lines)]
    return fitted([head[at] for at in said], [[line[at] for at in said] for line in lines], width, {'culprit': CULPRIT_LEAST, 'run': NAME_LEAST},
                  ('>compile', '>coll.', '>dev.', '>steps', '>idle', '>hosts', 'culprit', '>usual', '>busy'))


def slow_lines(rows):
    """One sentence for each run that is slow: how much, and why."""
    lines = []
    for row in (row for row in rows if row['slow']):
        slow = row['slow']
        lines.append('  %s: a step takes %s, %.2f x the median of the %d other runs like it (%s)' % (
            clean(row['name']), time(row['step']), row['factor'], row['like'], time(slow['usual'])))
        if slow['account']:
            lines.append('      %s grew most, by %s a step%s' % (slow['account'], time(slow['account_more']),
                                                              '' if not slow['culprit'] else ': ' + _culprit(slow)))
        else:
            lines.append('      no account grew: see idsprof fleet report --run %s' % clean(row['name']))
    return lines


def accounts_table(accounts, width, full):
    small = [] if full else [account for account in accounts if account['share'] < SMALL]
    lines = _accounts([account for account in accounts if account not in small], width)
    return lines + (['  %d smaller with --full' % len(small)] if small else [])


def _accounts(accounts, width):
    head = ['account', '>device-hours an hour', '>share', '>runs', 'most in', 'culprit there']
    lines = [[account['account'], '%.2f' % account['devices'], share(account['share']), '%d' % account['runs'], clean(account['most_in'] or '-'),
              _culprit(account)] for account in accounts]
    return fitted(head, lines, width, {'culprit there': CULPRIT_LEAST, 'most in': NAME_LEAST, 'account': NAME_LEAST},
                  ('>runs', 'most in', 'culprit there', '>share'))


def advice_lines(advice):
    lines = []
    for one in advice[:5]:
        culprit = ' (%s in %d)' % (clean(one['culprit']), one['culprit_runs']) if one['culprit'] and one['culprit_runs'] > 1 else ''
        lines.append('  %s%s: %s' % (one['account'], culprit, count(one['runs'], 'run')))
    return lines


def failure_lines(failures, full):
    """What failed for one reason is one line."""
    by_reason = {}
    for url, why in failures:
        by_reason.setdefault(why, []).append(url)
    lines = []
    for why, urls in by_reason.items():
        if full or len(urls) < ALIKE:
            lines += ['  %s: %s' % (clean(url), clean(why)) for url in urls]
        else:
            lines.append('  %s and %d more: %s' % (clean(urls[0]), len(urls) - 1, clean(why)))
    shown = lines if full else lines[:FAILURES_SHOWN]
    return shown + (['  and more: --full shows all'] if len(shown) < len(lines) else [])


def report(summary, width, full=False, top=0):
    rows = summary['runs']
    width = 10 ** 6 if full else width
    shown = rows[:top] if top else rows
    devices = sum(row['devices'] for row in rows)
    lost = sum((row['lost'] or 0) * row['devices'] for row in rows)
    lines = ['%s · %s · %s' % (count(len(rows), 'run'), count(sum(row['hosts_read'] for row in rows), 'host'), count(devices, 'device'))
             + (' · %.1f of %d device-hours an hour compute' % (devices - lost, devices) if devices else '')]
    slow = slow_lines(rows)
    if slow:
        lines += ['', '  SLOW AGAINST RUNS LIKE THEM', *slow]
    if rows:
        lines += ['', '  RUNS, WORST FIRST', *runs_table(shown, width)]
    if len(shown) < len(rows):
        lines.append('  %d more with --top 0' % (len(rows) - len(shown)))
    cut = [row for row in rows if not row['complete']]
    if cut:
        lines += ['', '  INCOMPLETE', *('  %s: %s' % (clean(row['name']), clean(row['diag'] or 'a file ends early, or is missing')) for row in cut)]
    if summary['accounts']:
        lines += ['', '  WHERE THE TIME OF ALL DEVICES GOES', *accounts_table(summary['accounts'], width, full)]
    if summary['advice']:
        lines += ['', '  WHAT IS SAID FIRST', *advice_lines(summary['advice'])]
    if rows:
        lines += ['', '  idsprof fleet report URL --run NAME says all of one run']
    return '\n'.join(part for line in lines for part in ([line] if len(line) <= width else wrapped(line, width))) + '\n'


def as_json(summary):
    return json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + '\n'


def as_csv(rows, stream):
    columns = ['name', 'url', 'hosts', 'hosts_read', 'complete', 'devices', 'kind', 'program', 'steps', 'step', 'factor', 'utilization', 'idle',
               'collectives', 'compile', 'lost', 'account', 'culprit', 'where', 'saves', 'per']
    writer = csv.writer(stream)
    writer.writerow(columns)
    writer.writerows([['' if row[column] is None else row[column] for column in columns] for row in rows])


def _exact(cell):
    """As `idsprof query` writes it: a whole number that a double cannot hold is a string."""
    return str(cell) if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) > 1 << 53 else cell


def rows(columns, found, form, stream):
    """What a statement gave."""
    if form == 'json':
        json.dump([dict(zip(columns, map(_exact, row))) for row in found], stream, indent=1, ensure_ascii=False, default=str)
        stream.write('\n')
    elif form == 'csv':
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows([['' if cell is None else cell for cell in row] for row in found])
    else:
        numbers = [all(isinstance(row[at], (int, float, type(None))) for row in found) for at in range(len(columns))]
        head = ['>' + name if number else name for name, number in zip(columns, numbers)]
        stream.write('\n'.join(table(head, [['-' if cell is None else clean(str(cell)) for cell in row] for row in found], 10 ** 6, {})) + '\n')


def terminal_width(asked=None):
    """As in the other commands."""
    return max(LEAST_WIDTH, asked or (shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 120))
