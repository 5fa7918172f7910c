"""Charts as SVG, by hand: bars, lines and stacked bars with a legend."""

COLOURS = ["#3366cc", "#dc7633", "#2e8b57", "#8e44ad", "#7f8c8d", "#c0392b"]
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT = 640, 360, 70, 48, 58, 150


def _text(x, y, words, anchor="middle", size=12, extra=""):
    words = str(words).replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {extra}>{words}</text>'


def _frame(title, unit, most, body, legend):
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', _text(WIDTH / 2, 24, title, size=15),
        _text(16, HEIGHT / 2, unit, extra=f'transform="rotate(-90 16 {HEIGHT / 2})"'),
    ]
    for i in range(6):
        y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * i / 5
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{most * i / 5:.3g}", "end", 11))
    parts += body
    for i, name in enumerate(legend):
        y = TOP + 10 + 20 * i
        parts.append(f'<rect x="{WIDTH - RIGHT + 12}" y="{y}" width="12" height="12" fill="{COLOURS[i % 6]}"/>')
        parts.append(_text(WIDTH - RIGHT + 30, y + 10, name, "start"))
    return "\n".join(parts + ["</svg>\n"])


def _y(value, most):
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / most


def bars(title, unit, labels, series):
    """series: name -> a value for each label, None where it is missing."""
    most = max([v for values in series.values() for v in values if v is not None], default=1) * 1.1 or 1
    slot = (WIDTH - LEFT - RIGHT) / max(len(labels), 1)
    width, body = slot * 0.8 / max(len(series), 1), []
    for i, label in enumerate(labels):
        body.append(_text(LEFT + slot * (i + 0.5), HEIGHT - BOTTOM + 18, label, size=11))
        for j, values in enumerate(series.values()):
            x = LEFT + slot * i + slot * 0.1 + width * j
            if values[i] is None:
                body.append(_text(x + width / 2, HEIGHT - BOTTOM - 4, "not present", "start", 9,
                                  f'fill="#999" transform="rotate(-90 {x + width / 2:.1f} {HEIGHT - BOTTOM - 4})"'))
                continue
            y = _y(values[i], most)
            body.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{HEIGHT - BOTTOM - y:.1f}" '
                        f'fill="{COLOURS[j % 6]}"/>')
    return _frame(title, unit, most, body, list(series))


def stacked(title, unit, labels, series):
    totals = [sum(values[i] or 0 for values in series.values()) for i in range(len(labels))]
    most = max(totals, default=1) * 1.1 or 1
    slot, body = (WIDTH - LEFT - RIGHT) / max(len(labels), 1), []
    for i, label in enumerate(labels):
        body.append(_text(LEFT + slot * (i + 0.5), HEIGHT - BOTTOM + 18, label, size=11))
        below = 0
        for j, values in enumerate(series.values()):
            top = below + (values[i] or 0)
            body.append(f'<rect x="{LEFT + slot * (i + 0.2):.1f}" y="{_y(top, most):.1f}" width="{slot * 0.6:.1f}" '
                        f'height="{_y(below, most) - _y(top, most):.1f}" fill="{COLOURS[j % 6]}"/>')
            below = top
    return _frame(title, unit, most, body, list(series))


def lines(title, unit, xs, series, labels=None):
    """xs: positions of the points, evenly spaced and labelled."""
    most = max([v for values in series.values() for v in values if v is not None], default=1) * 1.1 or 1
    step, body = (WIDTH - LEFT - RIGHT) / max(len(xs) - 1, 1), []
    for i, label in enumerate(labels or xs):
        body.append(_text(LEFT + step * i, HEIGHT - BOTTOM + 18, label, size=11))
    for j, values in enumerate(series.values()):
        points = [(LEFT + step * i, _y(v, most)) for i, v in enumerate(values) if v is not None]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        body.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[j % 6]}" stroke-width="2"/>')
        body += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[j % 6]}"/>' for x, y in points]
    return _frame(title, unit, most, body, list(series))
