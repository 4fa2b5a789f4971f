"""placeholder"""
from PySide6.QtWidgets import QStatusBar
class StatusBar(QStatusBar):
    def __init__(self, context): 
        super().__init__(); context.wishes.say.connect(self.showMessage)
