"""Drawn posters of the demo: landscapes, patterns, plants, skies and towns, as SVG.

A piece's style and number determine the whole drawing, so no picture is stored: the pin has the
address, size and color, and the gateway draws the picture on request.
"""
