package main

type defaultTable map[string]any

func probeDefaults(kinds kindSet) defaultTable   { return defaultTable{} }
func (table defaultTable) printConditional()     {}
func (table defaultTable) apply(types typeTable) {}
func selectableFields() map[string][]string      { return map[string][]string{} }
