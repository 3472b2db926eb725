"""Attacks of an anonymous client on a gateway, measured."""
