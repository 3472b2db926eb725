"""Flowers, leaves, vases and arches."""

import math

from gateway.demo.art.shapes import Canvas, circle, leaf, line, num, path, rect


def bloom(canvas: Canvas) -> str:
    """A large flower of several rings of petals, and small ones around it."""
    width, height, palette, rng = canvas
    parts = [rect(0, 0, width, height, palette.ground)]
    spots = [(width / 2, height / 2, width * 0.42)]
    for _ in range(9):
        spots.append((rng.random() * width, rng.random() * height, rng.uniform(40, 90)))
    for x, y, r in reversed(spots):
        rings = 4 if r > 100 else 2
        count = rng.choice((7, 9, 12, 16))
        colors = rng.sample(palette.colors, rings)
        for n, color in enumerate(colors):
            long, turn = r * (1 - n / (rings + 1)), n * 180 / count
            for k in range(count):
                petal = leaf(x, y, long, long * 5.2 / count, turn + k * 360 / count)
                parts.append(path(petal, color, f' stroke="{palette.ground}" stroke-width="1.5"'))
        parts.append(circle(x, y, r * 0.13, palette.ink))
    return "".join(parts)


def branch(canvas: Canvas) -> str:
    """A few stems with leaves on both sides and berries at the ends."""
    width, height, palette, rng = canvas
    parts = [rect(0, 0, width, height, palette.ground)]
    parts.append(circle(width * rng.uniform(0.3, 0.7), height * 0.36, width * 0.33, canvas.color()))
    stems = rng.randrange(2, 5)
    for n in range(stems):
        foot = width * (n + 1) / (stems + 1)
        lean, tall = rng.uniform(-70, 70), height * rng.uniform(0.6, 0.88)
        color, stroke = rng.choice(palette.colors[:3]), palette.ink
        spine = [(foot + lean * (k / 10) ** 1.6, height - tall * k / 10) for k in range(11)]
        d = "M" + "L".join(f"{num(x)} {num(y)}" for x, y in spine)
        parts.append(line(d, stroke, 3.5))
        for k, (x, y) in enumerate(spine[1:], 1):
            long = (1.25 - k / 10) * rng.uniform(60, 96)
            for side in (-1, 1):
                turn = -90 + side * rng.uniform(38, 62)
                parts.append(path(leaf(x, y, long, long * 0.42, turn), color))
                tip = math.radians(turn)
                x2, y2 = x + long * 0.8 * math.cos(tip), y + long * 0.8 * math.sin(tip)
                vein = f"M{num(x)} {num(y)}L{num(x2)} {num(y2)}"
                parts.append(line(vein, palette.ground, 1.2, ' opacity="0.6"'))
        parts.append(circle(*spine[-1], 11, palette.colors[4]))
    return "".join(parts)


def vase(canvas: Canvas) -> str:
    """A still life: a vase with stems on a table."""
    width, height, palette, rng = canvas
    colors = palette.colors
    table = height * 0.78
    parts = [rect(0, 0, width, height, palette.ground)]
    parts.append(rect(0, table, width, height - table, colors[rng.randrange(3)]))
    x, tall, wide = width * rng.uniform(0.42, 0.58), height * 0.32, width * 0.17
    top = table + 26 - tall
    for n in range(rng.randrange(5, 9)):
        lean = (n - 3) * 26 + rng.uniform(-14, 14)
        y = top - height * rng.uniform(0.14, 0.36)
        sway = f"M{num(x)} {num(top + 8)}Q{num(x + lean * 0.3)} {num((top + y) / 2)}"
        parts.append(line(f"{sway} {num(x + lean)} {num(y)}", colors[0], 3.4))
        if rng.random() < 0.6:
            petal = rng.choice(colors[2:])
            for k in range(8):
                parts.append(path(leaf(x + lean, y, 34, 20, k * 45 + lean), petal))
            parts.append(circle(x + lean, y, 9, palette.ink))
        else:
            for k in range(5):
                px, py = x + lean * (0.55 + k * 0.1), y + (top - y) * (0.4 - k * 0.09)
                parts.append(path(leaf(px, py, 42, 16, -150 + lean), colors[1]))
                parts.append(path(leaf(px, py, 42, 16, -30 + lean), colors[1]))
    neck = wide * rng.uniform(0.35, 0.6)
    body = (
        f"M{num(x - neck)} {num(top)}C{num(x - neck)} {num(top + tall * 0.3)} "
        f"{num(x - wide * 1.2)} {num(top + tall * 0.4)} {num(x - wide * 0.8)} {num(top + tall)}"
        f"H{num(x + wide * 0.8)}C{num(x + wide * 1.2)} {num(top + tall * 0.4)} "
        f"{num(x + neck)} {num(top + tall * 0.3)} {num(x + neck)} {num(top)}Z"
    )
    parts.append(path(body, rng.choice(colors[2:])))
    for n in range(3):
        y = top + tall * (0.5 + n * 0.13)
        stripe = f"M{num(x - wide * 0.86)} {num(y)}H{num(x + wide * 0.86)}"
        parts.append(line(stripe, palette.ink, 3, ' opacity="0.5"'))
    for _ in range(rng.randrange(1, 4)):
        fruit = x + rng.choice((-1, 1)) * rng.uniform(wide * 1.4, width * 0.4)
        r = rng.uniform(22, 36)
        parts.append(circle(fruit, table + 34, r, rng.choice(colors[2:])))
        parts.append(path(leaf(fruit, table + 36 - r, 24, 12, -40), colors[0]))
    return "".join(parts)


def arches(canvas: Canvas) -> str:
    """Rainbows of thick arcs, stacked like hills, with suns between them."""
    width, height, palette, rng = canvas
    parts = [rect(0, 0, width, height, palette.ground)]
    row, y = 0, height * 0.3
    while y < height + 160:
        count = 2 + row % 2
        for n in range(-1, count + 1):
            x, r = width * (n + (0.5 if row % 2 else 0.0)) / count, width / count * 0.52
            colors = rng.sample(palette.colors, 4)
            for k, color in enumerate((*colors, palette.ground)):
                part = r * (1 - k / 5)
                arc = f"a{num(part)} {num(part)} 0 0 1 {num(part * 2)} 0"
                parts.append(
                    path(f"M{num(x - part)} {num(y)}{arc}v{height}h{num(-2 * part)}Z", color)
                )
        row, y = row + 1, y + width * 0.24
    sun, r = width * rng.uniform(0.2, 0.8), width * 0.075
    parts.append(circle(sun, height * 0.08 + r, r, palette.colors[3]))
    return "".join(parts)
