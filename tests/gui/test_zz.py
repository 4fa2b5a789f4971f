from tests.gui.test_window import *
def test_x(desk):
    desk.ask("How do I connect AWS VPCs?")
    desk.chat.composer.editor.setFocus()
    prev=None
    for _ in range(46):
        w = desk.application.focusWidget()
        print(type(w).__name__, w.accessibleName(), type(w.parentWidget()).__name__)
        desk.key(Qt.Key.Key_Tab)
