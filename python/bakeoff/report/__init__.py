"""The comparison written for people: one tree of blocks (`compose`), several renderers (`html`,
`terminal`).
"""
