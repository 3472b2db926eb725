"""Drawn posters of the demo: landscapes, patterns, plants, skies and towns, as SVG.

A piece's style and number decide the whole drawing, so nothing is stored: the pin keeps the
address, size and color, and the gateway draws the picture when it is asked for.
"""
