// A small controller as people write them with controller-runtime: it paints Widgets. It holds a Lease to be the only one at
// work, keeps a ConfigMap per Widget that the Widget owns, says in status and in Events what it did, and takes leave of a
// deleted Widget by a finalizer. Nothing in it knows of Berth.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "clients.example.com/paint"

type WidgetSpec struct {
	Color    string `json:"color,omitempty"`
	Replicas int32  `json:"replicas,omitempty"`
}

type WidgetStatus struct {
	Phase      string             `json:"phase,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec,omitempty"`
	Status            WidgetStatus `json:"status,omitempty"`
}

func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), w.Status.Conditions...)
	return &out
}

type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

func (l *WidgetList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]Widget, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Widget)
	}
	return &out
}

type painter struct {
	client.Client
	events events.EventRecorder
	name   string
}

func (p *painter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := &Widget{}
	if err := p.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !widget.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(widget, finalizer) {
			p.events.Eventf(widget, nil, corev1.EventTypeNormal, "Stripped", "Strip", "the paint of %s is off", widget.Name)
			return ctrl.Result{}, client.IgnoreNotFound(p.Update(ctx, widget))
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(widget, finalizer) {
		if err := p.Update(ctx, widget); err != nil {
			return ctrl.Result{}, err
		}
	}
	tin := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: widget.Namespace, Name: widget.Name}}
	done, err := controllerutil.CreateOrUpdate(ctx, p.Client, tin, func() error {
		tin.Data = map[string]string{"color": widget.Spec.Color, "painter": p.name}
		return controllerutil.SetControllerReference(widget, tin, p.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if done != controllerutil.OperationResultNone {
		p.events.Eventf(widget, tin, corev1.EventTypeNormal, "Painted", "Paint", "it is %s now", widget.Spec.Color)
	}
	before := widget.DeepCopyObject().(*Widget)
	widget.Status.Phase = "Painted"
	meta.SetStatusCondition(&widget.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Painted", Message: widget.Spec.Color, ObservedGeneration: widget.Generation,
	})
	return ctrl.Result{}, p.Status().Patch(ctx, widget, client.MergeFrom(before))
}

func run() error {
	name := flag.String("name", "painter", "who paints")
	namespace := flag.String("namespace", "default", "where its Lease is")
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))

	version := schema.GroupVersion{Group: "clients.example.com", Version: "v1"}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	scheme.AddKnownTypes(version, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, version)

	lease, renew, retry := 3*time.Second, 2*time.Second, 500*time.Millisecond
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "painter.clients.example.com",
		LeaderElectionNamespace:       *namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
	})
	if err != nil {
		return err
	}
	reconciler := &painter{Client: manager.GetClient(), events: manager.GetEventRecorder("painter"), name: *name}
	if err := ctrl.NewControllerManagedBy(manager).For(&Widget{}).Owns(&corev1.ConfigMap{}).Complete(reconciler); err != nil {
		return err
	}
	go func() {
		<-manager.Elected()
		fmt.Println("elected")
	}()
	return manager.Start(ctrl.SetupSignalHandler())
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
