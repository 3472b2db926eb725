"""Landscapes, seas, night skies and towns."""

import math

from gateway.demo.art.shapes import Canvas, circle, gradient, line, num, path, rect, smooth


def hills(canvas: Canvas) -> str:
    """A sun behind ridges, each ridge nearer and darker."""
    width, height, palette, rng = canvas
    colors = palette.colors
    sky = (palette.ground, colors[3]) if rng.random() < 0.6 else (colors[4], palette.ground)
    parts = [gradient("s", *sky), rect(0, 0, width, height, "url(#s)")]
    x, y, r = (
        width * (0.25 + rng.random() * 0.5),
        height * 0.34,
        width * (0.11 + rng.random() * 0.1),
    )
    sun = rng.choice((colors[2], colors[3], palette.ink))
    parts.append(circle(x, y, r * 1.5, sun, ' opacity="0.18"'))
    parts.append(circle(x, y, r, sun))
    for n in range(rng.randrange(3, 6)):  # birds
        bx, by, size = x + rng.uniform(-1, 1) * r * 3, y * rng.uniform(0.4, 1.1), 7 + n * 1.5
        wing = f"q{num(size)} {num(-size)} {num(2 * size)} 0"
        parts.append(line(f"M{num(bx)} {num(by)}{wing}{wing}", palette.ink, 2.2))
    ridges = 5
    for n in range(ridges):
        base = height * (0.46 + 0.12 * n)
        swell = height * (0.1 - 0.012 * n)
        steps = 7 + n
        points = [
            (width * k / steps, base + swell * math.sin(k * 1.3 + n * 2) * rng.random())
            for k in range(-1, steps + 2)
        ]
        down = f"L{width + 200} {height}L-200 {height}Z"
        parts.append(path(smooth(points) + down, colors[ridges - 1 - n]))
    return "".join(parts)


def sea(canvas: Canvas) -> str:
    """Rows of waves under a low sun, with a boat on one of them."""
    width, height, palette, rng = canvas
    colors = palette.colors
    horizon = height * 0.38
    parts = [gradient("s", colors[4], colors[3]), rect(0, 0, width, height, "url(#s)")]
    x = width * rng.uniform(0.3, 0.7)
    parts.append(circle(x, horizon, width * 0.2, colors[2]))
    rows, boat = 9, rng.randrange(1, 4)
    for n in range(rows):
        y = horizon + (height - horizon) * (n / rows) ** 1.15
        long, high, shift = 40 + 16 * n, 5 + 2.6 * n, rng.random() * 200
        if n == boat:
            at, size = width - x, 26 + 6 * n
            sail = f"M{num(at)} {num(y - size * 2)}l{num(size)} {num(size * 1.7)}h{num(-size)}Z"
            hull = f"M{num(at - size)} {num(y - size * 0.2)}h{num(size * 2.2)}l{num(-size * 0.5)}"
            parts.append(path(sail, palette.ground if n else palette.ink))
            parts.append(path(f"{hull} {num(size * 0.6)}h{num(-size * 1.3)}Z", palette.ink))
        d = f"M{num(-shift)} {num(y)}"
        for _ in range(int((width + shift) / long) + 2):
            d += f"q{num(long / 4)} {num(-high)} {num(long / 2)} 0t{num(long / 2)} 0"
        parts.append(path(f"{d}V{height}H-200Z", (colors[1], colors[0])[n % 2]))
        parts.append(line(d, palette.ground, 1.6 + n * 0.2, ' opacity="0.55"'))
    return "".join(parts)


def night(canvas: Canvas) -> str:
    """A moon and stars above a forest that stands in its own reflection."""
    width, height, palette, rng = canvas
    dark, blue = "#0b1026", canvas.palette.colors[0]
    parts = [gradient("s", dark, blue), rect(0, 0, width, height, "url(#s)")]
    for _ in range(150):
        parts.append(
            circle(
                rng.random() * width,
                rng.random() * height * 0.7,
                rng.random() ** 3 * 2.6 + 0.5,
                "#fdf6e3",
                f' opacity="{rng.uniform(0.4, 1):.1f}"',
            )
        )
    x, y, r = width * rng.uniform(0.2, 0.8), height * rng.uniform(0.16, 0.3), width * 0.1
    parts.append(circle(x, y, r * 1.7, palette.colors[4], ' opacity="0.12"'))
    parts.append(circle(x, y, r, palette.colors[4]))
    if rng.random() < 0.5:
        parts.append(circle(x + r * 0.45, y - r * 0.2, r * 0.9, dark))
    for row, shade in enumerate((palette.colors[1], "#122033", "#070b16")):
        base = height * (0.74 + 0.1 * row)
        parts.append(rect(0, base, width, height - base, shade))
        at = -20.0
        while at < width + 20:
            tall, broad = rng.uniform(50, 130) * (0.7 + row * 0.35), rng.uniform(20, 34)
            d = f"M{num(at)} {num(base + 2)}"
            for step in range(4):
                far = broad * (1 - step / 4)
                d += f"L{num(at - far + broad)} {num(base - tall * step / 4)}"
                d += f"L{num(at - far * 0.5 + broad)} {num(base - tall * step / 4 - 6)}"
            mirror = f"L{num(at + broad)} {num(base - tall)}L{num(at + 2 * broad)} {num(base + 2)}Z"
            parts.append(path(d + mirror, shade))
            at += broad * rng.uniform(0.8, 1.7)
    return "".join(parts)


def town(canvas: Canvas) -> str:
    """Roofs and lit windows in two rows, under a large moon or sun."""
    width, height, palette, rng = canvas
    colors = palette.colors
    parts = [gradient("s", colors[1], colors[4]), rect(0, 0, width, height, "url(#s)")]
    parts.append(circle(width * rng.uniform(0.3, 0.7), height * 0.33, width * 0.24, colors[3]))
    for row in range(2):
        at = -float(rng.randrange(40))
        while at < width:
            wide = rng.choice((62, 78, 94, 110))
            tall = height * (0.62 - 0.2 * row) * rng.uniform(0.55, 1)
            shade = palette.ink if row else colors[0]
            if palette.ink > "#a" and row:  # with a pale ink, the town would be pale
                shade = "#0c1420"
            parts.append(rect(at, height - tall, wide, tall, shade))
            top = height - tall
            match rng.randrange(4):
                case 0:
                    d = f"M{num(at - 5)} {num(top)}l{num(wide / 2 + 5)} {num(-wide * 0.5)}"
                    parts.append(path(f"{d}l{num(wide / 2 + 5)} {num(wide * 0.5)}Z", colors[2]))
                case 1:
                    parts.append(circle(at + wide / 2, top, wide * 0.36, colors[2]))
                    parts.append(rect(at, top, wide, wide * 0.4, shade))
                case 2:
                    parts.append(rect(at + wide * 0.3, top - 34, wide * 0.2, 36, shade))
            y = top + 16
            while y < height - 20:
                for n in range(int(wide // 24)):
                    if rng.random() < 0.55:
                        lit = colors[3] if rng.random() < 0.8 else colors[4]
                        parts.append(rect(at + 9 + n * 24, y, 11, 15, lit))
                y += 30
            at += wide + rng.choice((0, 0, 8))
    return "".join(parts)


def orbits(canvas: Canvas) -> str:
    """Planets on their orbits around a star, some with rings and moons."""
    width, height, palette, rng = canvas
    back = palette.colors[0] if palette.ground > "#8" else palette.ground
    parts = [rect(0, 0, width, height, back)]
    for _ in range(90):
        x, y = rng.random() * width, rng.random() * height
        parts.append(circle(x, y, rng.random() * 1.6 + 0.4, "#fdf6e3", ' opacity="0.7"'))
    x, y = width * rng.choice((0.5, 0.1, 0.9)), height * rng.choice((0.5, 0.12, 0.88))
    parts.append(circle(x, y, 64, palette.colors[3]))
    parts.append(circle(x, y, 92, palette.colors[3], ' opacity="0.2"'))
    for n in range(7):
        far, size = 130 + n * 78, rng.uniform(12, 40)
        ring = f' stroke="{palette.colors[4]}" stroke-width="1.4" opacity="0.5"'
        parts.append(circle(x, y, far, "none", ring))
        angle = math.atan2(height / 2 - y, width / 2 - x) + rng.uniform(-0.9, 0.9)
        px, py = x + far * math.cos(angle), y + far * math.sin(angle)
        parts.append(circle(px, py, size, palette.colors[1 + n % 4]))
        parts.append(
            path(
                f"M{num(px - size)} {num(py)}a{num(size)} {num(size)} 0 0 0 {num(size * 2)} 0"
                f"q{num(-size)} {num(size * 0.8)} {num(-size * 2)} 0Z",
                "#000000",
                ' opacity="0.22"',
            )
        )
        if rng.random() < 0.4:
            d = f"M{num(px - size * 1.8)} {num(py + 6)}q{num(size * 1.8)} {num(size * 0.7)}"
            parts.append(line(f"{d} {num(size * 3.6)} -12", palette.colors[4], 4))
    return "".join(parts)
