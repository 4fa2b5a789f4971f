"""placeholder"""


def export_dialog(*a):
    pass
