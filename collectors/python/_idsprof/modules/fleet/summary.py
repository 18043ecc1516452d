"""What many reports say together: a row a run, which of them is slow against those like it and why, and what all of them lose."""
import collections
import statistics

SLOWER = 1.05           # a step this much longer than the median of the runs like it,
SPREADS = 3             # and this many spreads of theirs, makes a run slow;
FEW = 8                 # of n runs that many times 1 + 8 / n: a spread of three is off by more than one of forty
LIKE_LEAST = 3          # runs that a median is taken of
OF_NORMAL = 1.4826      # a median absolute deviation times this is a standard deviation
COMPUTE = 'work.compute'


def _value(report, metric):
    return (report['metrics'].get(metric) or {}).get('value')


def _rows(report, table):
    found = report['tables'].get(table) or {'columns': [], 'rows': []}
    names = [column['id'] for column in found['columns']]
    return [dict(zip(names, row)) for row in found['rows']]


def accounts_of(report):
    """By account: seconds of all devices, seconds per step and device, share, and who is to blame for most of it."""
    return {row['account']: {'time': row['time'] or 0, 'per_step': row['per_step'], 'share': row['share'] or 0, 'culprit': row['culprit'],
                             'where': row['where']} for row in _rows(report, 'accounts')}


def _program(report):
    """What the devices ran most: runs of one program on as many like devices can be compared."""
    modules = sorted(_rows(report, 'modules'), key=lambda row: -(row['self'] or 0))
    return modules[0]['name'] if modules else (report['run'].get('steps') or {}).get('annotation')


def row_of(run, report, hosts):
    """One run in figures. hosts: how many of its files were to be read."""
    devices = report['run'].get('devices') or {}
    first = (report['advice'] or [{}])[0]
    accounts = accounts_of(report)
    return {
        'name': run.name, 'url': run.url, 'hosts': hosts, 'hosts_read': report['run'].get('files') or 0, 'complete': report['complete'],
        'devices': devices.get('count') or 0, 'kind': devices.get('model') or devices.get('kind'), 'program': _program(report),
        'steps': _value(report, 'steps.count'), 'step': _value(report, 'steps.mean'), 'utilization': _value(report, 'device.utilization'),
        'idle': _value(report, 'idle.share'), 'collectives': _value(report, 'collectives.share'), 'compile': _value(report, 'compile.total'),
        'account': first.get('account'), 'culprit': first.get('culprit'), 'where': first.get('where'), 'saves': first.get('saves'),
        'per': first.get('per'), 'what': first.get('what'), 'lost': lost_share(accounts), 'accounts': accounts,
        'diag': next((diag['text'] for diag in report['diag'] if diag.get('text')), None) if not report['complete'] else None,
        'like': None, 'factor': None, 'slow': None,
    }


def lost_share(accounts):
    """Of the time of the devices, what is no computing. None where nothing was booked."""
    return 1 - accounts.get(COMPUTE, {'share': 0})['share'] if accounts else None


# --- which is slow ------------------------------------------------------------------------------------------------------

def compare(rows):
    """Fills like, factor and slow: each run against the others of its program and devices."""
    groups = collections.defaultdict(list)
    for row in rows:
        if row['step'] and row['devices']:
            groups[row['program'], row['kind'], row['devices']].append(row)
    for group in groups.values():
        for row in group:
            others = [other['step'] for other in group if other is not row]
            row['like'] = len(others)
            if len(others) < LIKE_LEAST:
                continue
            middle = statistics.median(others)
            spread = OF_NORMAL * statistics.median(abs(step - middle) for step in others)
            row['factor'] = row['step'] / middle
            if row['factor'] >= SLOWER and row['step'] - middle > SPREADS * (1 + FEW / len(others)) * spread:
                row['slow'] = _slow(row, [other for other in group if other is not row], middle)


def _slow(row, others, middle):
    """By how much, and the account that grew most against the median of the others."""
    grown = {}
    for account, own in row['accounts'].items():
        usual = statistics.median((other['accounts'].get(account) or {}).get('per_step') or 0 for other in others)
        grown[account] = (own['per_step'] or 0) - usual
    account = max(grown, key=grown.get, default=None)
    if account is None or grown[account] <= 0:
        return {'more': row['step'] - middle, 'usual': middle, 'account': None, 'account_more': None, 'culprit': None, 'where': None}
    own = row['accounts'][account]
    return {'more': row['step'] - middle, 'usual': middle, 'account': account, 'account_more': grown[account], 'culprit': own['culprit'],
            'where': own['where']}


def order(row):
    """Worst first: runs that are slow against those like them by how much, then by devices whose time is lost."""
    return (0, -row['factor'], row['name']) if row['slow'] else (1, -(row['lost'] or 0) * row['devices'], row['name'])


# --- what all lose ------------------------------------------------------------------------------------------------------

def fleet_accounts(rows):
    """By account: how many devices' worth of time goes there. Each run counts with its devices, however long its window is."""
    devices = sum(row['devices'] for row in rows if row['accounts'])
    sums = collections.defaultdict(lambda: {'devices': 0.0, 'recorded': 0.0, 'runs': 0, 'most': 0.0, 'run': None, 'culprit': None, 'where': None})
    for row in rows:
        for account, own in row['accounts'].items():
            into, part = sums[account], own['share'] * row['devices']
            into['devices'] += part
            into['recorded'] += own['time']
            into['runs'] += own['time'] > 0
            if part > into['most']:
                into.update(most=part, run=row['name'], culprit=own['culprit'], where=own['where'])
    found = [{'account': account, 'devices': into['devices'], 'share': into['devices'] / devices if devices else None,
              'recorded': into['recorded'], 'runs': into['runs'], 'most_in': into['run'], 'most_devices': into['most'], 'culprit': into['culprit'],
              'where': into['where']} for account, into in sums.items() if into['devices'] > 0]
    return sorted(found, key=lambda account: (account['account'] == COMPUTE, -account['devices'], account['account']))


def fleet_advice(rows):
    """What is said first, by how many runs."""
    counts = collections.defaultdict(list)
    for row in rows:
        if row['account']:
            counts[row['account']].append(row)
    found = []
    for account, own in counts.items():
        culprits = collections.Counter(row['culprit'] for row in own if row['culprit'])
        culprit, times = culprits.most_common(1)[0] if culprits else (None, 0)
        found.append({'account': account, 'runs': len(own), 'culprit': culprit, 'culprit_runs': times, 'what': own[0]['what'],
                      'names': [row['name'] for row in own]})
    return sorted(found, key=lambda advice: (-advice['runs'], advice['account']))


def summarize(rows):
    compare(rows)
    rows.sort(key=order)
    return {'runs': rows, 'accounts': fleet_accounts(rows), 'advice': fleet_advice(rows)}
