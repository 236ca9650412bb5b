"""genmcp"""
