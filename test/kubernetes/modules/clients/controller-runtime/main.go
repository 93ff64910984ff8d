// A controller built with controller-runtime, as operators are: envtest installs its CustomResourceDefinition into the cluster
// that KUBECONFIG names, a manager with leader election reconciles objects of it (typed in Go) through caches, with a
// finalizer, owned objects, status and server-side apply. Each step prints one line.
package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	namespace = "controller-runtime"
	finalizer = "garden.example.com/dig-up"
	byColour  = "spec.colour"
)

var groupVersion = schema.GroupVersion{Group: "garden.example.com", Version: "v1"}

// Flower wants a ConfigMap of its own that says its colour.
type Flower struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FlowerSpec   `json:"spec,omitempty"`
	Status            FlowerStatus `json:"status,omitempty"`
}

type FlowerSpec struct {
	Colour string `json:"colour"`
	Petals int64  `json:"petals,omitempty"`
}

type FlowerStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type FlowerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Flower `json:"items"`
}

func (f *Flower) DeepCopyObject() runtime.Object {
	copied := *f
	copied.ObjectMeta = *f.ObjectMeta.DeepCopy()
	copied.Status.Conditions = append([]metav1.Condition(nil), f.Status.Conditions...)
	return &copied
}

func (l *FlowerList) DeepCopyObject() runtime.Object {
	copied := *l
	copied.Items = make([]Flower, len(l.Items))
	for i := range l.Items {
		copied.Items[i] = *l.Items[i].DeepCopyObject().(*Flower)
	}
	return &copied
}

func definition() *apiextensions.CustomResourceDefinition {
	one := float64(1)
	object := func(properties map[string]apiextensions.JSONSchemaProps) apiextensions.JSONSchemaProps {
		return apiextensions.JSONSchemaProps{Type: "object", Properties: properties}
	}
	preserved := apiextensions.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(bool)}
	*preserved.XPreserveUnknownFields = true
	schema := object(map[string]apiextensions.JSONSchemaProps{
		"spec": object(map[string]apiextensions.JSONSchemaProps{
			"colour": {Type: "string", MinLength: new(int64)},
			"petals": {Type: "integer", Minimum: &one, Default: &apiextensions.JSON{Raw: []byte("5")}},
		}),
		"status": preserved,
	})
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "flowers." + groupVersion.Group},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: groupVersion.Group, Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{Plural: "flowers", Singular: "flower", Kind: "Flower", ListKind: "FlowerList"},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema:       &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &schema},
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

type reconciler struct {
	client.Client
	dugUp atomic.Int32
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var flower Flower
	if err := r.Get(ctx, request.NamespacedName, &flower); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !flower.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(&flower, finalizer) {
			if err := r.Update(ctx, &flower); err != nil {
				return ctrl.Result{}, err
			}
			r.dugUp.Add(1)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(&flower, finalizer) {
		if err := r.Update(ctx, &flower); err != nil {
			return ctrl.Result{}, err
		}
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: flower.Name, Namespace: flower.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, owned, func() error {
		owned.Data = map[string]string{"colour": flower.Spec.Colour}
		return controllerutil.SetControllerReference(&flower, owned, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if flower.Status.ObservedGeneration == flower.Generation {
		return ctrl.Result{}, nil
	}
	flower.Status.ObservedGeneration = flower.Generation
	meta.SetStatusCondition(&flower.Status.Conditions, metav1.Condition{Type: "Blooms", Status: metav1.ConditionTrue, Reason: "Watered"})
	return ctrl.Result{}, r.Status().Update(ctx, &flower)
}

func main() {
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	existing := true
	environment := &envtest.Environment{
		UseExistingCluster: &existing,
		Config:             config,
		CRDInstallOptions:  envtest.CRDInstallOptions{CRDs: []*apiextensions.CustomResourceDefinition{definition()}, CleanUpAfterUse: true},
	}
	if config, err = environment.Start(); err != nil {
		return fmt.Errorf("envtest: %w", err)
	}
	fmt.Println("envtest: the definition is installed")
	if err := work(ctx, config); err != nil {
		return err
	}
	if err := environment.Stop(); err != nil {
		return fmt.Errorf("envtest: %w", err)
	}
	fmt.Println("envtest: the definition is gone")
	return nil
}

func work(ctx context.Context, config *rest.Config) error {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	scheme.AddKnownTypes(groupVersion, &Flower{}, &FlowerList{})
	metav1.AddToGroupVersion(scheme, groupVersion)

	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "flowers",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	if err := manager.GetFieldIndexer().IndexField(ctx, &Flower{}, byColour, func(object client.Object) []string {
		return []string{object.(*Flower).Spec.Colour}
	}); err != nil {
		return err
	}
	flowers := &reconciler{Client: manager.GetClient()}
	if err := ctrl.NewControllerManagedBy(manager).For(&Flower{}).Owns(&corev1.ConfigMap{}).Complete(flowers); err != nil {
		return err
	}
	managing, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(managing) }()
	if !manager.GetCache().WaitForCacheSync(ctx) {
		return fmt.Errorf("caches did not sync")
	}
	<-manager.Elected()
	fmt.Println("manager: elected, caches are synced")
	if err := garden(ctx, manager.GetClient(), manager.GetAPIReader(), flowers); err != nil {
		return err
	}
	stop()
	if err := <-ended; err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	fmt.Println("manager: ended")
	return nil
}

func garden(ctx context.Context, cached client.Client, direct client.Reader, flowers *reconciler) error {
	if err := cached.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return err
	}
	key := types.NamespacedName{Namespace: namespace, Name: "tulip"}
	tulip := &Flower{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: namespace}, Spec: FlowerSpec{Colour: "red"}}
	if err := cached.Create(ctx, tulip); err != nil {
		return err
	}
	fmt.Printf("create: %d petals by default\n", tulip.Spec.Petals)
	if err := eventually(ctx, func() (bool, error) {
		err := direct.Get(ctx, key, tulip)
		return tulip.Status.ObservedGeneration == tulip.Generation && meta.IsStatusConditionTrue(tulip.Status.Conditions, "Blooms"), err
	}); err != nil {
		return fmt.Errorf("it was not reconciled: %w", err)
	}
	var owned corev1.ConfigMap
	if err := direct.Get(ctx, key, &owned); err != nil {
		return err
	}
	fmt.Printf("reconcile: generation %d, finalizers %v, colour %s, owned by %s\n", tulip.Generation, tulip.Finalizers, owned.Data["colour"], owned.OwnerReferences[0].Kind)

	before := tulip.DeepCopyObject().(*Flower)
	tulip.Spec.Colour = "white"
	if err := cached.Patch(ctx, tulip, client.MergeFrom(before)); err != nil {
		return err
	}
	if err := eventually(ctx, func() (bool, error) {
		err := direct.Get(ctx, key, &owned)
		return owned.Data["colour"] == "white", err
	}); err != nil {
		return fmt.Errorf("the change was not reconciled: %w", err)
	}
	if err := cached.Delete(ctx, &owned); err != nil {
		return err
	}
	if err := eventually(ctx, func() (bool, error) {
		var again corev1.ConfigMap
		err := client.IgnoreNotFound(direct.Get(ctx, key, &again))
		return again.UID != "" && again.UID != owned.UID, err
	}); err != nil {
		return fmt.Errorf("the owned object was not made again: %w", err)
	}
	fmt.Println("update: the colour followed; what it owns was made again")

	invalid := &Flower{ObjectMeta: metav1.ObjectMeta{Name: "weed", Namespace: namespace}, Spec: FlowerSpec{Petals: -1}}
	if err := cached.Create(ctx, invalid); !apierrors.IsInvalid(err) {
		return fmt.Errorf("expected it to be invalid, got %v", err)
	} else {
		fmt.Println("validation:", err)
	}
	var white FlowerList
	if err := eventually(ctx, func() (bool, error) {
		err := cached.List(ctx, &white, client.InNamespace(namespace), client.MatchingFields{byColour: "white"})
		return len(white.Items) == 1, err
	}); err != nil {
		return err
	}
	fmt.Println("index: one white flower")

	if err := cached.Delete(ctx, tulip, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		return err
	}
	if err := eventually(ctx, func() (bool, error) {
		return apierrors.IsNotFound(direct.Get(ctx, key, tulip)) && apierrors.IsNotFound(direct.Get(ctx, key, &owned)), nil
	}); err != nil {
		return fmt.Errorf("it did not go with what it owns: %w", err)
	}
	fmt.Printf("delete: the finalizer ran %d time, what it owned is gone\n", flowers.dugUp.Load())
	return cached.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
}

func eventually(ctx context.Context, condition func() (bool, error)) error {
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return condition()
	})
}
