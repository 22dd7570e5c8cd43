"""Simulated pages: tabs, sections, menus, trees and look-alikes, with filler and a named target."""
