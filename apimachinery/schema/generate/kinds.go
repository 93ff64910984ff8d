package main

import (
	"reflect"
	"sort"

	apiextensionsinstall "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationinstall "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	// Each installs its groups into legacyscheme.Scheme.
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

const release = "v1.36.3"

var groupVersions = []schema.GroupVersion{
	{Version: "v1"},
	{Group: "admissionregistration.k8s.io", Version: "v1"},
	{Group: "apiextensions.k8s.io", Version: "v1"},
	{Group: "apiregistration.k8s.io", Version: "v1"},
	{Group: "apps", Version: "v1"},
	{Group: "authentication.k8s.io", Version: "v1"},
	{Group: "authorization.k8s.io", Version: "v1"},
	{Group: "autoscaling", Version: "v1"},
	{Group: "autoscaling", Version: "v2"},
	{Group: "batch", Version: "v1"},
	{Group: "certificates.k8s.io", Version: "v1"},
	{Group: "coordination.k8s.io", Version: "v1"},
	{Group: "discovery.k8s.io", Version: "v1"},
	{Group: "events.k8s.io", Version: "v1"},
	{Group: "flowcontrol.apiserver.k8s.io", Version: "v1"},
	{Group: "networking.k8s.io", Version: "v1"},
	{Group: "node.k8s.io", Version: "v1"},
	{Group: "policy", Version: "v1"},
	{Group: "rbac.authorization.k8s.io", Version: "v1"},
	{Group: "resource.k8s.io", Version: "v1"},
	{Group: "scheduling.k8s.io", Version: "v1"},
	{Group: "storage.k8s.io", Version: "v1"},
}

// kindSet contains every kind of the group versions above with its Go type.
type kindSet map[schema.GroupVersionKind]reflect.Type

var scheme = func() *runtime.Scheme {
	apiextensionsinstall.Install(legacyscheme.Scheme)
	apiregistrationinstall.Install(legacyscheme.Scheme)
	return legacyscheme.Scheme
}()

// Kinds that the scheme registers in every group version: options of requests, which have one common type.
var everywhere = map[string]bool{
	"CreateOptions": true, "DeleteOptions": true, "GetOptions": true, "ListOptions": true, "PatchOptions": true,
	"UpdateOptions": true, "WatchEvent": true,
}

func builtInKinds() kindSet {
	kinds := kindSet{}
	for _, version := range groupVersions {
		for kind, goType := range scheme.KnownTypes(version) {
			if !everywhere[kind] {
				kinds[version.WithKind(kind)] = goType
			}
		}
	}
	core := schema.GroupVersion{Version: "v1"}
	for kind, object := range map[string]any{
		"CreateOptions": metav1.CreateOptions{}, "DeleteOptions": metav1.DeleteOptions{}, "GetOptions": metav1.GetOptions{},
		"ListOptions": metav1.ListOptions{}, "PatchOptions": metav1.PatchOptions{}, "UpdateOptions": metav1.UpdateOptions{},
		"WatchEvent": metav1.WatchEvent{}, "Status": metav1.Status{}, "APIVersions": metav1.APIVersions{},
		"APIGroup": metav1.APIGroup{}, "APIGroupList": metav1.APIGroupList{}, "APIResourceList": metav1.APIResourceList{},
	} {
		kinds[core.WithKind(kind)] = reflect.TypeOf(object)
	}
	meta := schema.GroupVersion{Group: "meta.k8s.io", Version: "v1"}
	for kind, object := range map[string]any{
		"PartialObjectMetadata": metav1.PartialObjectMetadata{}, "PartialObjectMetadataList": metav1.PartialObjectMetadataList{},
		"Table": metav1.Table{},
	} {
		kinds[meta.WithKind(kind)] = reflect.TypeOf(object)
	}
	return kinds
}

func (kinds kindSet) sorted() []schema.GroupVersionKind {
	list := make([]schema.GroupVersionKind, 0, len(kinds))
	for kind := range kinds {
		list = append(list, kind)
	}
	sort.Slice(list, func(i, j int) bool { return printKind(list[i]) < printKind(list[j]) })
	return list
}

// names maps "v1/Pod" and "apps/v1/Deployment" to the OpenAPI name of the type.
func (kinds kindSet) names() map[string]string {
	names := map[string]string{}
	for kind, goType := range kinds {
		names[printKind(kind)] = modelName(goType)
	}
	return names
}

func printKind(kind schema.GroupVersionKind) string {
	return kind.GroupVersion().String() + "/" + kind.Kind
}
