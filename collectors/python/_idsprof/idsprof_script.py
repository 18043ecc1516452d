"""idsprof_script.py - watches the script itself (__main__) until --wrap has found what it wants there.

No import ends when a script has defined a function, so the lines of its module are followed, beginning with the import of jax. With
sys.monitoring (Python 3.12 and later) other code pays nothing. Before that sys.settrace is used, which costs every call of the program about
0.1 us; it is given up after CALLS calls, and not begun where another tracer is active.
"""
import sys

CALLS = 2_000_000
TOOLS = 3, 4, 5, 1, 2, 0        # numbers of tools of sys.monitoring, those without a meaning of their own first


def _module_frame():
    """The frame that runs the script's module, of this thread."""
    names = vars(sys.modules.get('__main__'))
    frame = sys._getframe(1)
    while frame and not (frame.f_globals is names and frame.f_code.co_name == '<module>'):
        frame = frame.f_back
    return frame


def watch(look):
    """Has look() called after each line of the script's module until it is true. False: that cannot be done here."""
    frame = _module_frame()
    if frame is None:
        return False
    return _monitor(frame.f_code, look) if hasattr(sys, 'monitoring') else _trace(frame, look)


def _monitor(code, look):
    monitoring = sys.monitoring
    tool = next((number for number in TOOLS if monitoring.get_tool(number) is None), None)
    if tool is None:
        return False

    def line(_code, _number):
        if look():
            monitoring.set_local_events(tool, code, 0)
            monitoring.register_callback(tool, monitoring.events.LINE, None)
            monitoring.free_tool_id(tool)

    monitoring.use_tool_id(tool, 'idsprof')
    monitoring.register_callback(tool, monitoring.events.LINE, line)
    monitoring.set_local_events(tool, code, monitoring.events.LINE)
    return True


def _trace(frame, look):
    if sys.gettrace() is not None or frame.f_trace is not None:
        return False
    left = [CALLS]

    def stop():
        if frame.f_trace is line:
            frame.f_trace = None
        if sys.gettrace() is call:
            sys.settrace(None)

    def call(_frame, _event, _arg):
        left[0] -= 1
        if left[0] < 0:
            stop()

    def line(_frame, event, _arg):
        if look() or event == 'return':
            stop()
        return line

    frame.f_trace = line
    sys.settrace(call)
    return True
