"""An alarm that goes on above one noisy threshold and off below another one (hysteresis)."""

from symdipa import laplace, mechanism


@mechanism
def alarm_once(queries):
    """On, then off, and that is all."""
    state = "off"
    on, off = 5 + laplace(4), laplace(4)
    for q in queries:
        noisy = q + laplace(8)
        match state, noisy >= (on if state == "off" else off):
            case "off", True:
                state = "on"
            case "on", False:
                yield "over"
                return
        yield state


@mechanism
def alarm_for_ever(queries):
    """Wrong: on and off again, with the same thresholds."""
    state = "off"
    on, off = 5 + laplace(4), laplace(4)
    for q in queries:
        noisy = q + laplace(8)
        if state == "off" and noisy >= on:
            state = "on"
        elif state == "on" and noisy < off:
            state = "off"
        yield state


@mechanism
def redrawn(queries, *, times=2):
    """Right, if only a few times: every time there are new thresholds."""
    stream = iter(queries)
    for _ in range(times):
        on = laplace(4 * times)
        for q in stream:
            if q + laplace(8 * times) >= on:
                yield "on"
                break
            yield "off"
