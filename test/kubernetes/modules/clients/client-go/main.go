// What programs do with client-go, step by step, against the cluster that KUBECONFIG names. Each step prints one line; the
// lines are the same whatever serves the API. It ends with 0 when all steps did what they say.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/tools/record"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/client-go/util/retry"
)

const namespace = "client-go"

type world struct {
	config *rest.Config
	client kubernetes.Interface
}

var steps = []struct {
	name string
	run  func(context.Context, *world) (string, error)
}{
	{"namespace", makeNamespace},
	{"typed objects in protobuf", typedObjects},
	{"typed objects in JSON", typedObjectsInJSON},
	{"errors by reason", errorReasons},
	{"retry on conflict", retryOnConflict},
	{"apply configurations", applyConfigurations},
	{"patches", patches},
	{"shared informers", sharedInformers},
	{"watch until", watchUntil},
	{"pages", pages},
	{"dynamic client and REST mapper", dynamicClient},
	{"metadata client", metadataClient},
	{"leader election", leaderElection},
	{"events", recordEvents},
	{"eviction", evict},
	{"scale", scaleSubresource},
	{"delete a collection", deleteCollection},
	{"the namespace goes", deleteNamespace},
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fail("configuration", err)
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.QPS, config.Burst = 100, 200
	w := &world{config: config, client: kubernetes.NewForConfigOrDie(config)}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for _, step := range steps {
		said, err := step.run(ctx, w)
		if err != nil {
			fail(step.name, err)
		}
		fmt.Printf("%s: %s\n", step.name, said)
	}
}

func fail(step string, err error) {
	fmt.Printf("%s: failed: %v\n", step, err)
	os.Exit(1)
}

func makeNamespace(ctx context.Context, w *world) (string, error) {
	made, err := w.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return string(made.Status.Phase), nil
}

func configMap(name string, data map[string]string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels}, Data: data}
}

func typedObjects(ctx context.Context, w *world) (string, error) {
	return roundTrip(ctx, w.client, "protobuf")
}

func typedObjectsInJSON(ctx context.Context, w *world) (string, error) {
	config := rest.CopyConfig(w.config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", err
	}
	return roundTrip(ctx, client, "json")
}

// A deployment written and read back, whole.
func roundTrip(ctx context.Context, client kubernetes.Interface, name string) (string, error) {
	replicas := int32(0)
	labels := map[string]string{"app": name}
	deployments := client.AppsV1().Deployments(namespace)
	made, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	read, err := deployments.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if read.UID != made.UID || len(read.ManagedFields) == 0 {
		return "", fmt.Errorf("read back: uid %s, not %s; %d managers", read.UID, made.UID, len(read.ManagedFields))
	}
	container := read.Spec.Template.Spec.Containers[0]
	return fmt.Sprintf("%s %s %s %d", read.Spec.Strategy.Type, container.ImagePullPolicy, container.TerminationMessagePath, *read.Spec.RevisionHistoryLimit), nil
}

func errorReasons(ctx context.Context, w *world) (string, error) {
	maps := w.client.CoreV1().ConfigMaps(namespace)
	var said []string
	say := func(err error) { said = append(said, fmt.Sprintf("%s %v", apierrors.ReasonForError(err), err)) }
	_, err := maps.Get(ctx, "missing", metav1.GetOptions{})
	say(err)
	if _, err := maps.Create(ctx, configMap("twice", nil, nil), metav1.CreateOptions{}); err != nil {
		return "", err
	}
	_, err = maps.Create(ctx, configMap("twice", nil, nil), metav1.CreateOptions{})
	say(err)
	_, err = maps.Create(ctx, configMap("Not A Name", nil, nil), metav1.CreateOptions{})
	say(err)
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "", fmt.Errorf("%v is not a status", err)
	}
	for _, cause := range status.Status().Details.Causes {
		said = append(said, fmt.Sprintf("%s %s", cause.Type, cause.Field))
	}
	stale := configMap("twice", map[string]string{"a": "b"}, nil)
	stale.ResourceVersion = "1"
	_, err = maps.Update(ctx, stale, metav1.UpdateOptions{})
	say(err)
	err = maps.Delete(ctx, "twice", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: new(types.UID)}})
	said = append(said, string(apierrors.ReasonForError(err)))
	_, err = w.client.CoreV1().Pods("no-such-namespace").Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
	}, metav1.CreateOptions{})
	say(err)
	return strings.Join(said, "; "), nil
}

func retryOnConflict(ctx context.Context, w *world) (string, error) {
	maps := w.client.CoreV1().ConfigMaps(namespace)
	if _, err := maps.Create(ctx, configMap("counter", map[string]string{}, nil), metav1.CreateOptions{}); err != nil {
		return "", err
	}
	const writers = 4
	done := make(chan error, writers)
	for writer := range writers {
		go func() {
			done <- retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				current, err := maps.Get(ctx, "counter", metav1.GetOptions{})
				if err != nil {
					return err
				}
				if current.Data == nil {
					current.Data = map[string]string{}
				}
				current.Data[fmt.Sprint("writer-", writer)] = "was here"
				_, err = maps.Update(ctx, current, metav1.UpdateOptions{})
				return err
			})
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			return "", err
		}
	}
	found, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(len(found.Data), " writers"), nil
}

func applyConfigurations(ctx context.Context, w *world) (string, error) {
	maps := w.client.CoreV1().ConfigMaps(namespace)
	apply := func(manager string, force bool, data map[string]string) (*corev1.ConfigMap, error) {
		wanted := applycore.ConfigMap("applied", namespace).WithData(data)
		return maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	if _, err := apply("one", false, map[string]string{"a": "1", "b": "1"}); err != nil {
		return "", err
	}
	_, conflict := apply("two", false, map[string]string{"a": "2"})
	if !apierrors.IsConflict(conflict) {
		return "", fmt.Errorf("expected a conflict, got %v", conflict)
	}
	if _, err := apply("two", true, map[string]string{"a": "2"}); err != nil {
		return "", err
	}
	found, err := apply("one", false, map[string]string{"c": "3"})
	if err != nil {
		return "", err
	}
	extracted, err := applycore.ExtractConfigMap(found, "one")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%v; %v; of one: %v", conflict, found.Data, extracted.Data), nil
}

func patches(ctx context.Context, w *world) (string, error) {
	deployments := w.client.AppsV1().Deployments(namespace)
	for _, each := range []struct {
		kind types.PatchType
		text string
	}{
		{types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"busybox"}]}}}}`},
		{types.MergePatchType, `{"metadata":{"annotations":{"a":"b"}}}`},
		{types.JSONPatchType, `[{"op":"test","path":"/metadata/annotations/a","value":"b"},{"op":"add","path":"/metadata/labels","value":{"l":"m"}}]`},
	} {
		if _, err := deployments.Patch(ctx, "protobuf", each.kind, []byte(each.text), metav1.PatchOptions{}); err != nil {
			return "", err
		}
	}
	found, err := deployments.Get(ctx, "protobuf", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(len(found.Spec.Template.Spec.Containers), " containers ", found.Annotations["a"], " ", found.Labels), nil
}

func sharedInformers(ctx context.Context, w *world) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	selected := func(options *metav1.ListOptions) { options.LabelSelector = "informed=yes" }
	factory := informers.NewSharedInformerFactoryWithOptions(w.client, 0, informers.WithNamespace(namespace), informers.WithTweakListOptions(selected))
	informer := factory.Core().V1().ConfigMaps()
	events := make(chan string, 16)
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { events <- "added " + object.(*corev1.ConfigMap).Name },
		UpdateFunc: func(_, object any) { events <- "updated " + object.(*corev1.ConfigMap).Name },
		DeleteFunc: func(object any) {
			if gone, ok := object.(*corev1.ConfigMap); ok {
				events <- "deleted " + gone.Name
			}
		},
	})
	if err != nil {
		return "", err
	}
	maps := w.client.CoreV1().ConfigMaps(namespace)
	labels := map[string]string{"informed": "yes"}
	if _, err := maps.Create(ctx, configMap("before", nil, labels), metav1.CreateOptions{}); err != nil {
		return "", err
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return "", fmt.Errorf("%v did not sync", kind)
		}
	}
	made, err := maps.Create(ctx, configMap("after", nil, labels), metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	made.Data = map[string]string{"x": "y"}
	if made, err = maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return "", err
	}
	made.Labels = nil // it leaves the selection
	if _, err = maps.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return "", err
	}
	var said []string
	for len(said) < 4 {
		select {
		case event := <-events:
			said = append(said, event)
		case <-time.After(20 * time.Second):
			return "", fmt.Errorf("only %v", said)
		}
	}
	return strings.Join(said, ", "), nil
}

func watchUntil(ctx context.Context, w *world) (string, error) {
	selector := fields.OneTermEqualSelector("metadata.name", "awaited").String()
	maps := w.client.CoreV1().ConfigMaps(namespace)
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = selector
			return maps.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = selector
			return maps.Watch(ctx, options)
		},
	}
	go func() {
		_, _ = maps.Create(ctx, configMap("awaited", map[string]string{"ready": "no"}, nil), metav1.CreateOptions{})
		_, _ = maps.Patch(ctx, "awaited", types.MergePatchType, []byte(`{"data":{"ready":"yes"}}`), metav1.PatchOptions{})
	}()
	event, err := watchtools.UntilWithSync(ctx, source, &corev1.ConfigMap{}, nil, func(event watch.Event) (bool, error) {
		return event.Object.(*corev1.ConfigMap).Data["ready"] == "yes", nil
	})
	if err != nil {
		return "", err
	}
	return event.Object.(*corev1.ConfigMap).Name + " is ready", nil
}

func pages(ctx context.Context, w *world) (string, error) {
	maps := w.client.CoreV1().ConfigMaps(namespace)
	labels := map[string]string{"paged": "yes"}
	for n := range 25 {
		if _, err := maps.Create(ctx, configMap(fmt.Sprintf("page-%02d", n), nil, labels), metav1.CreateOptions{}); err != nil {
			return "", err
		}
	}
	asked, seen := 0, 0
	each := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		asked++
		return maps.List(ctx, options)
	})
	each.PageSize = 10
	err := each.EachListItem(ctx, metav1.ListOptions{LabelSelector: "paged=yes"}, func(runtime.Object) error {
		seen++
		return nil
	})
	return fmt.Sprintf("%d objects in %d pages", seen, asked), err
}

func dynamicClient(ctx context.Context, w *world) (string, error) {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.client.Discovery()))
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"})
	if err != nil {
		return "", err
	}
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		return "", err
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": map[string]any{"name": "front"},
		"spec": map[string]any{"rules": []any{map[string]any{"host": "example.com"}}},
	}}
	made, err := client.Resource(mapping.Resource).Namespace(namespace).Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(mapping.Resource.Resource, " ", mapping.Scope.Name(), " ", made.GetKind(), " ", made.GetGeneration()), nil
}

func metadataClient(ctx context.Context, w *world) (string, error) {
	client, err := metadata.NewForConfig(w.config)
	if err != nil {
		return "", err
	}
	list, err := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: "paged=yes", Limit: 2})
	if err != nil {
		return "", err
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Kind+" "+item.Name)
	}
	return fmt.Sprint(strings.Join(names, ", "), ", more: ", list.Continue != "", list.RemainingItemCount != nil), nil
}

func leaderElection(ctx context.Context, w *world) (string, error) {
	lead := func(identity string, work func(context.Context)) error {
		ctx, cancel := context.WithTimeout(ctx, 40*time.Second)
		defer cancel()
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: namespace},
			Client:     w.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		}
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true, LeaseDuration: 5 * time.Second, RenewDeadline: 3 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) { work(ctx); cancel() },
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		elector.Run(ctx)
		return nil
	}
	var order []string
	for _, identity := range []string{"first", "second"} {
		if err := lead(identity, func(context.Context) { order = append(order, identity) }); err != nil {
			return "", err
		}
	}
	lease, err := w.client.CoordinationV1().Leases(namespace).Get(ctx, "leader", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%v, %d transitions", order, *lease.Spec.LeaseTransitions), nil
}

func recordEvents(ctx context.Context, w *world) (string, error) {
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&eventSink{ctx, w.client})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "client-go-program"})
	object, err := w.client.CoreV1().ConfigMaps(namespace).Get(ctx, "applied", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	for range 3 {
		recorder.Event(object, corev1.EventTypeNormal, "Happened", "something happened")
	}
	for {
		list, err := w.client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Happened,involvedObject.name=applied"})
		if err != nil {
			return "", err
		}
		if len(list.Items) == 1 && list.Items[0].Count == 3 {
			return fmt.Sprintf("%s, %d times", list.Items[0].Message, list.Items[0].Count), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%d events", len(list.Items))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

type eventSink struct {
	ctx    context.Context
	client kubernetes.Interface
}

func (s *eventSink) Create(event *corev1.Event) (*corev1.Event, error) {
	return s.client.CoreV1().Events(event.Namespace).CreateWithEventNamespaceWithContext(s.ctx, event)
}
func (s *eventSink) Update(event *corev1.Event) (*corev1.Event, error) {
	return s.client.CoreV1().Events(event.Namespace).UpdateWithEventNamespaceWithContext(s.ctx, event)
}
func (s *eventSink) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	return s.client.CoreV1().Events(event.Namespace).PatchWithEventNamespaceWithContext(s.ctx, event, data)
}

func evict(ctx context.Context, w *world) (string, error) {
	pods := w.client.CoreV1().Pods(namespace)
	grace := int64(0)
	if _, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "evicted"},
		Spec:       corev1.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []corev1.Container{{Name: "main", Image: "nginx"}}},
	}, metav1.CreateOptions{}); err != nil {
		return "", err
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "evicted", Namespace: namespace}}
	if err := w.client.PolicyV1().Evictions(namespace).Evict(ctx, eviction); err != nil {
		return "", err
	}
	for {
		_, err := pods.Get(ctx, "evicted", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return "gone", nil
		}
		if err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func scaleSubresource(ctx context.Context, w *world) (string, error) {
	deployments := w.client.AppsV1().Deployments(namespace)
	scale, err := deployments.GetScale(ctx, "json", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	scale.Spec.Replicas = 2
	if scale, err = deployments.UpdateScale(ctx, "json", scale, metav1.UpdateOptions{}); err != nil {
		return "", err
	}
	return fmt.Sprint(scale.Spec.Replicas, " ", scale.Status.Selector), nil
}

func deleteCollection(ctx context.Context, w *world) (string, error) {
	maps := w.client.CoreV1().ConfigMaps(namespace)
	if err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "paged=yes"}); err != nil {
		return "", err
	}
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	sort.Strings(names)
	return strings.Join(names, " "), nil
}

func deleteNamespace(ctx context.Context, w *world) (string, error) {
	namespaces := w.client.CoreV1().Namespaces()
	watcher, err := namespaces.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + namespace})
	if err != nil {
		return "", err
	}
	defer watcher.Stop()
	if err := namespaces.Delete(ctx, namespace, metav1.DeleteOptions{}); err != nil {
		return "", err
	}
	for event := range watcher.ResultChan() {
		if event.Type == watch.Deleted {
			return "deleted", nil
		}
	}
	return "", fmt.Errorf("the watch ended before the namespace was gone: %w", ctx.Err())
}
