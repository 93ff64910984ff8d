package main

import (
	"reflect"
	"slices"
	"sort"
)

// Labels that are not fields of the type.
var otherLabels = []string{"source", "status.podIPs", "status.successful"}

// selectableFields tries the scheme's label conversions for every field of a kind that is not below a list or map.
func selectableFields(kinds kindSet) map[string][]string {
	selectable := map[string][]string{}
	for kind, goType := range kinds {
		var found []string
		for _, label := range append(scalarPaths(goType, "", 4), otherLabels...) {
			if label == "metadata.name" || label == "metadata.namespace" {
				continue
			}
			if slices.Contains(found, label) {
				continue
			}
			if same, _, err := scheme.ConvertFieldLabel(kind, label, "x"); err == nil && same == label {
				found = append(found, label)
			}
		}
		if len(found) > 0 {
			sort.Strings(found)
			selectable[printKind(kind)] = found
		}
	}
	return selectable
}

func scalarPaths(goType reflect.Type, prefix string, depth int) []string {
	for goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	if goType.Kind() != reflect.Struct {
		return []string{prefix}
	}
	if depth == 0 {
		return nil
	}
	var paths []string
	for i := range goType.NumField() {
		field := goType.Field(i)
		switch name := jsonName(field); {
		case name == "" && field.Anonymous:
			paths = append(paths, scalarPaths(field.Type, prefix, depth)...)
		case name == "" || name == "-":
		case prefix == "":
			paths = append(paths, scalarPaths(field.Type, name, depth-1)...)
		default:
			paths = append(paths, scalarPaths(field.Type, prefix+"."+name, depth-1)...)
		}
	}
	return paths
}
