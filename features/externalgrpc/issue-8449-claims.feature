# https://github.com/kubernetes/autoscaler/pull/8449
# https://github.com/kubernetes-sigs/cluster-autoscaler/issues/31

@cluster-autoscaler @externalgrpc @issue-8449 @issue-31
Feature: A resource claim of another pod does not end the autoscaler

  Dynamic resource allocation: a pod gets a claim of its own from a template, and another pod
  names that claim. Pods of DaemonSets stay where they are when the autoscaler tries what would
  be if their node were gone, so the claims of theirs go with it.

  Background:
    Given a cluster whose API server also serves "resource.k8s.io/v1beta1"
    And a cloud of node groups
    And these Ready Nodes:
      | name    | type | taints                                           |
      | control | tiny | node-role.kubernetes.io/control-plane:NoSchedule |
    And these node groups:
      | name | type   | min | max |
      | best | medium | 0   | 5   |
    And Cluster Autoscaler with the flags:
      | --enable-dynamic-resource-allocation | true |
      | --unremovable-node-recheck-timeout   | 20s  |
    And a pod "one" that requests 3 CPU is Running
    And a pod "two" that requests 3 CPU is Running
    # Three devices on each of the two nodes: it is no reason to stay that one is taken.
    And these objects:
      """
      apiVersion: resource.k8s.io/v1
      kind: DeviceClass
      metadata: {name: device}
      spec: {}
      ---
      apiVersion: resource.k8s.io/v1
      kind: ResourceSlice
      metadata: {name: best-1}
      spec:
        driver: device.example.org
        nodeName: best-1
        pool: {name: best-1, generation: 1, resourceSliceCount: 1}
        devices: [{name: one}, {name: two}, {name: three}]
      ---
      apiVersion: resource.k8s.io/v1
      kind: ResourceSlice
      metadata: {name: best-2}
      spec:
        driver: device.example.org
        nodeName: best-2
        pool: {name: best-2, generation: 1, resourceSliceCount: 1}
        devices: [{name: one}, {name: two}, {name: three}]
      ---
      apiVersion: resource.k8s.io/v1
      kind: ResourceClaimTemplate
      metadata: {name: own, namespace: default}
      spec: {spec: {devices: {requests: [{name: device, exactly: {deviceClassName: device}}]}}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: owner-1, namespace: default, annotations: {cluster-autoscaler.kubernetes.io/daemonset-pod: "true"}}
      spec:
        nodeSelector: {kubernetes.io/hostname: best-1}
        containers: [{name: main, image: none}]
        resourceClaims: [{name: own, resourceClaimTemplateName: own}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: owner-2, namespace: default, annotations: {cluster-autoscaler.kubernetes.io/daemonset-pod: "true"}}
      spec:
        nodeSelector: {kubernetes.io/hostname: best-2}
        containers: [{name: main, image: none}]
        resourceClaims: [{name: own, resourceClaimTemplateName: own}]
      """
    And "kube-scheduler" has ever sent "create" of "pods/binding" 4 times

  @externalgrpc-8449-no-node-info
  Scenario: Two nodes, each with a pod that names the claim of a pod on the other
    Given this is recorded:
      """
      {source: api, resource: resourceclaims, name: {matches: "owner-1-.*"}, actor: kube-scheduler, ever: true}
      """
    And these objects:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: guest-2, namespace: default, annotations: {cluster-autoscaler.kubernetes.io/daemonset-pod: "true"}}
      spec:
        nodeName: best-2
        containers: [{name: main, image: none}]
        resourceClaims: [{name: other, resourceClaimName: $name}]
      """
    And this is recorded:
      """
      {source: api, resource: resourceclaims, name: {matches: "owner-2-.*"}, actor: kube-scheduler, ever: true}
      """
    And these objects:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: guest-1, namespace: default, annotations: {cluster-autoscaler.kubernetes.io/daemonset-pod: "true"}}
      spec:
        nodeName: best-1
        containers: [{name: main, image: none}]
        resourceClaims: [{name: other, resourceClaimName: $name}]
      """
    When "Pod/one" is deleted
    And "Pod/two" is deleted
    Then this holds within 5m:
      """
      count: {source: cloud, verb: Refresh, actor: cluster-autoscaler}
      atLeast: 15
      """

  @externalgrpc-31-claim-gone
  Scenario: A node with a pod that names the claim of another pod on it
    Given this is recorded:
      """
      {source: api, resource: resourceclaims, name: {matches: "owner-1-.*"}, actor: kube-scheduler, ever: true}
      """
    And these objects:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: guest-1, namespace: default, annotations: {cluster-autoscaler.kubernetes.io/daemonset-pod: "true"}}
      spec:
        nodeName: best-1
        containers: [{name: main, image: none}]
        resourceClaims: [{name: other, resourceClaimName: $name}]
      """
    When "Pod/one" is deleted
    And "Pod/two" is deleted
    Then this holds within 5m:
      """
      count: {source: cloud, verb: Refresh, actor: cluster-autoscaler}
      atLeast: 15
      """
