"""The seven steps of a question: one module and one public function each."""
