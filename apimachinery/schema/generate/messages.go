package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Message is one object as clients encode it in protobuf, and as the same type is printed in JSON after decoding.
type Message struct {
	Kind     string          `json:"kind"`
	Protobuf string          `json:"protobuf"`
	JSON     json.RawMessage `json:"json"`
}

// messages returns two objects of every kind that can be sent: one with a value in every field, and one where every pointer
// points to a zero value. To keep the file small a struct type is filled completely twice, after that only its scalars.
func messages(kinds kindSet) ([]byte, error) {
	var lines [][]byte
	fillings := map[bool]map[reflect.Type]int{false: {}, true: {}}
	for _, gvk := range kinds.sorted() {
		if _, sent := reflect.New(kinds[gvk]).Interface().(marshaler); !sent || strings.HasSuffix(gvk.Kind, "List") || gvk.Kind == "WatchEvent" {
			continue
		}
		for _, zero := range []bool{false, true} {
			value := reflect.New(kinds[gvk])
			f := filler{zero: zero, filled: fillings[zero]}
			f.fill(value.Elem(), nil)
			message, err := record(gvk, value.Interface().(marshaler))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", printKind(gvk), err)
			}
			line, err := json.Marshal(message)
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		}
	}
	return append(append([]byte("[\n"), bytes.Join(lines, []byte(",\n"))...), "\n]\n"...), nil
}

type marshaler interface {
	runtime.Object
	Marshal() ([]byte, error)
}

func record(gvk schema.GroupVersionKind, object marshaler) (Message, error) {
	serializer := protobuf.NewSerializer(scheme, scheme)
	object.GetObjectKind().SetGroupVersionKind(gvk)
	var encoded bytes.Buffer
	if err := serializer.Encode(object, &encoded); err != nil {
		return Message{}, err
	}
	back := reflect.New(reflect.TypeOf(object).Elem()).Interface().(runtime.Object)
	if _, _, err := serializer.Decode(encoded.Bytes(), nil, back); err != nil {
		return Message{}, err
	}
	back.GetObjectKind().SetGroupVersionKind(gvk)
	text, err := json.Marshal(back)
	return Message{Kind: printKind(gvk), Protobuf: base64.StdEncoding.EncodeToString(encoded.Bytes()), JSON: text}, err
}

type filler struct {
	zero   bool
	filled map[reflect.Type]int
	count  int64
}

const fullFillings = 2

var moment = time.Date(2024, 2, 29, 23, 59, 58, 123456000, time.UTC)

func (f *filler) next() int64 { f.count++; return f.count }

func (f *filler) fill(value reflect.Value, stack []reflect.Type) {
	if f.special(value, stack) {
		return
	}
	switch value.Kind() {
	case reflect.String:
		if !f.zero {
			value.SetString(fmt.Sprintf("é%d", f.next()))
		}
	case reflect.Bool:
		value.SetBool(!f.zero)
	case reflect.Int32, reflect.Int64, reflect.Int:
		if !f.zero {
			value.SetInt((f.next()*7919 - 20000) % (1 << 31))
		}
	case reflect.Float64:
		if !f.zero {
			value.SetFloat(float64(f.next()) + 0.25)
		}
	case reflect.Pointer:
		if elem := value.Type().Elem(); f.zero && (elem == reflect.TypeFor[metav1.Time]() || elem == reflect.TypeFor[metav1.MicroTime]()) {
			return // printed as null, which is read as if it were absent
		}
		value.Set(reflect.New(value.Type().Elem()))
		f.fill(value.Elem(), stack)
	case reflect.Slice:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			if !f.zero {
				value.SetBytes([]byte{byte(f.next()), 0, 255, 250})
			}
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		f.fill(value.Index(0), stack)
		f.fill(value.Index(1), append(stack, nil)) // the second of a list differs: scalars only
	case reflect.Map:
		key, item := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		f.fill(key, stack)
		f.fill(item, stack)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(key, item)
	case reflect.Struct:
		f.fillStruct(value, stack)
	}
}

func (f *filler) fillStruct(value reflect.Value, stack []reflect.Type) {
	goType := value.Type()
	shallow := f.filled[goType] >= fullFillings
	for _, outer := range stack {
		shallow = shallow || outer == goType || outer == nil
	}
	if !shallow {
		f.filled[goType]++
	}
	stack = append(stack, goType)
	for i := range goType.NumField() {
		field := goType.Field(i)
		if !field.IsExported() || field.Name == "TypeMeta" {
			continue
		}
		if shallow && !isScalar(field.Type) {
			continue
		}
		f.fill(value.Field(i), stack)
	}
}

func isScalar(goType reflect.Type) bool {
	switch goType.Kind() {
	case reflect.Pointer:
		return isScalar(goType.Elem())
	case reflect.Slice, reflect.Map, reflect.Interface:
		return false
	case reflect.Struct:
		return goType == reflect.TypeFor[metav1.Time]() || goType == reflect.TypeFor[resource.Quantity]()
	}
	return true
}

// Types with their own encoding.
func (f *filler) special(value reflect.Value, stack []reflect.Type) bool {
	var made any
	switch value.Interface().(type) {
	case metav1.Time:
		if made = metav1.NewTime(moment.Truncate(time.Second)); f.zero {
			made = metav1.Time{}
		}
	case metav1.MicroTime:
		if made = metav1.NewMicroTime(moment); f.zero {
			made = metav1.MicroTime{}
		}
	case metav1.Duration:
		if made = (metav1.Duration{Duration: time.Hour + 90*time.Second + 5*time.Millisecond}); f.zero {
			made = metav1.Duration{}
		}
	case resource.Quantity:
		texts := []string{"100m", "1Gi", "3", "1500e-3", "-2Ki"}
		if made = resource.MustParse(texts[f.next()%int64(len(texts))]); f.zero {
			made = resource.Quantity{}
		}
	case intstr.IntOrString:
		if made = intstr.FromString("25%"); f.zero || f.next()%2 == 0 {
			made = intstr.FromInt32(int32(f.count) - 1)
		}
	case runtime.RawExtension:
		if made = (runtime.RawExtension{Raw: []byte(`{"a":[1,"b",null]}`)}); f.zero {
			made = runtime.RawExtension{}
		}
	case metav1.FieldsV1:
		made = metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}
	case apiextensionsv1.JSON:
		texts := []string{`{"a":1}`, `"text"`, `7`, `[true]`, `null`}
		made = apiextensionsv1.JSON{Raw: []byte(texts[f.next()%int64(len(texts))])}
	case apiextensionsv1.JSONSchemaPropsOrBool:
		if f.zero || f.next()%2 == 0 {
			made = apiextensionsv1.JSONSchemaPropsOrBool{Allows: !f.zero}
		} else {
			made = apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: f.schema(stack)}
		}
	case apiextensionsv1.JSONSchemaPropsOrArray:
		if made = (apiextensionsv1.JSONSchemaPropsOrArray{Schema: f.schema(stack)}); !f.zero && f.next()%2 == 0 {
			made = apiextensionsv1.JSONSchemaPropsOrArray{JSONSchemas: []apiextensionsv1.JSONSchemaProps{*f.schema(stack), *f.schema(stack)}}
		}
	case apiextensionsv1.JSONSchemaPropsOrStringArray:
		if made = (apiextensionsv1.JSONSchemaPropsOrStringArray{Schema: f.schema(stack)}); f.zero || f.next()%2 == 0 {
			made = apiextensionsv1.JSONSchemaPropsOrStringArray{Property: []string{"a", "b"}}
		}
	case apiextensionsv1.JSONSchemaProps:
		if !f.zero {
			return false
		}
		for _, outer := range stack {
			if outer == value.Type() {
				return true
			}
		}
		return false
	default:
		return false
	}
	value.Set(reflect.ValueOf(made))
	return true
}

func (f *filler) schema(stack []reflect.Type) *apiextensionsv1.JSONSchemaProps {
	schema := &apiextensionsv1.JSONSchemaProps{}
	f.fill(reflect.ValueOf(schema).Elem(), stack)
	return schema
}
