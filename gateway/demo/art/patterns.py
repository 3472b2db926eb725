"""Patterns of tiles, arcs and lines."""

import math

from gateway.demo.art.shapes import Canvas, blob, circle, line, num, path, rect


def bauhaus(canvas: Canvas) -> str:
    """A grid of quarter circles, half circles, dots and triangles."""
    width, height, palette, rng = canvas
    size = rng.choice((100, 120, 150))
    parts = [rect(0, 0, width, height, palette.ground)]
    for top in range(0, height, size):
        for left in range(0, width, size):
            back, front = rng.sample((palette.ground, palette.ink, *palette.colors), 2)
            parts.append(rect(left, top, size, size, back))
            half = size / 2
            match rng.randrange(6):
                case 0:  # a quarter circle in a corner
                    corners = ((0, 0, 1, 1), (1, 0, -1, 1), (1, 1, -1, -1), (0, 1, 1, -1))
                    cx, cy, dx, dy = rng.choice(corners)
                    x, y = left + cx * size, top + cy * size
                    bend = 1 if dx == dy else 0
                    arc = f"a{size} {size} 0 0 {bend} {-dx * size} {dy * size}"
                    parts.append(path(f"M{x} {y}h{dx * size}{arc}Z", front))
                case 1:
                    parts.append(circle(left + half, top + half, half * 0.8, front))
                    parts.append(circle(left + half, top + half, half * 0.35, back))
                case 2:
                    arc = f"a{num(half)} {num(half)} 0 0 1 {size} 0"
                    parts.append(path(f"M{left} {num(top + half)}{arc}Z", front))
                    parts.append(path(f"M{left} {top + size}{arc}Z", front))
                case 3:
                    parts.append(path(f"M{left} {top}h{size}L{left} {top + size}Z", front))
                case 4:
                    for n in range(4):
                        at = top + size * n / 4
                        parts.append(rect(left, at, size, size / 8, front))
                case _:
                    for n in range(4):
                        dot = left + half * (0.5 + n % 2), top + half * (0.5 + n // 2)
                        parts.append(circle(*dot, half * 0.32, front))
    return "".join(parts)


def truchet(canvas: Canvas) -> str:
    """Arcs that meet at the edges of their tiles, in a band of two colors."""
    width, height, palette, rng = canvas
    size = rng.choice((60, 75, 100))
    first, second = rng.sample(palette.colors, 2)
    half = size / 2
    arcs = []
    for top in range(0, height, size):
        for left in range(0, width, size):
            bend = f"a{num(half)} {num(half)} 0 0"
            if rng.random() < 0.5:
                arcs.append(f"M{num(left + half)} {top}{bend} 1 {num(-half)} {num(half)}")
                x, y = left + half, top + size
                arcs.append(f"M{num(x)} {num(y)}{bend} 1 {num(half)} {num(-half)}")
            else:
                arcs.append(f"M{num(left + half)} {top}{bend} 0 {num(half)} {num(half)}")
                x, y = left + half, top + size
                arcs.append(f"M{num(x)} {num(y)}{bend} 0 {num(-half)} {num(-half)}")
    d = "".join(arcs)
    ground = rect(0, 0, width, height, palette.ground)
    return ground + line(d, first, size * 0.42) + line(d, second, size * 0.16)


def scales(canvas: Canvas) -> str:
    """Overlapping rows of rings: the Japanese pattern seigaiha, waves of the blue sea."""
    width, height, palette, rng = canvas
    r = rng.choice((50.0, 60.0, 75.0))
    inks = rng.sample(palette.colors, 3)
    parts = [rect(0, 0, width, height, palette.ground)]
    row, y = 0, 0.0
    while y < height + r:
        x = 0.0 if row % 2 else r
        while x < width + 2 * r:
            ring = inks[(row // 3 + int(x // (4 * r))) % 3]
            for n, share in enumerate((1.0, 0.76, 0.52, 0.28)):
                parts.append(circle(x, y, r * share, palette.ground if n % 2 else ring))
            x += 2 * r
        row, y = row + 1, y + r / 2
    return "".join(parts)


def contours(canvas: Canvas) -> str:
    """Height lines around a few summits, as on a map."""
    width, height, palette, rng = canvas
    colors = palette.colors
    parts = [rect(0, 0, width, height, colors[0] if rng.random() < 0.5 else palette.ground)]
    for _ in range(rng.randrange(2, 4)):
        x, y = width * rng.uniform(0.1, 0.9), height * rng.uniform(0.1, 0.9)
        far, seed = max(width, height) * rng.uniform(0.5, 0.8), rng.random() * 9
        levels = 12
        for n in range(levels, 0, -1):
            points = []
            for k in range(28):
                angle = k * math.tau / 28
                bump = 1 + 0.18 * math.sin(3 * angle + seed) + 0.1 * math.sin(5 * angle - seed * 2)
                r = far * n / levels * bump
                points.append((x + r * math.cos(angle), y + r * math.sin(angle)))
            d = "M" + "L".join(f"{num(px)} {num(py)}" for px, py in points) + "Z"
            more = f' stroke="{palette.ground}" stroke-width="2" stroke-linejoin="round"'
            parts.append(path(d, colors[n % len(colors)], more))
    return "".join(parts)


def terrazzo(canvas: Canvas) -> str:
    """Chips of stone in a ground."""
    width, height, palette, rng = canvas
    parts = [rect(0, 0, width, height, palette.ground)]
    placed: list[tuple[float, float, float]] = []
    for _ in range(420):
        x, y, r = rng.random() * width, rng.random() * height, rng.choice((6, 10, 16, 26, 40))
        if all(math.hypot(x - px, y - py) > r + pr for px, py, pr in placed):
            placed.append((x, y, r))
            ink = palette.ink if rng.random() < 0.12 else canvas.color()
            parts.append(path(blob(rng, x, y, r, points=6, wild=0.3), ink))
    return "".join(parts)


def weave(canvas: Canvas) -> str:
    """Stripes over stripes, as in a woven cloth."""
    width, height, palette, rng = canvas
    parts = [rect(0, 0, width, height, palette.ground)]
    bands: list[tuple[float, str]] = []
    while sum(wide for wide, _ in bands) < 240:
        bands.append((rng.choice((10, 18, 30, 48)), rng.choice((palette.ink, *palette.colors))))
    for level in (False, True):
        at = 0.0
        while at < max(width, height):
            for wide, color in bands:
                x, y = (0.0, at) if level else (at, 0.0)
                long, high = (width, wide) if level else (wide, height)
                parts.append(rect(x, y, long, high, color, ' opacity="0.45"'))
                at += wide + 6
    return "".join(parts)
