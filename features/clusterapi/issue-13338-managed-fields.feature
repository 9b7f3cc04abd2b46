# See https://github.com/kubernetes-sigs/cluster-api/pull/13338 and https://github.com/kubernetes/kubernetes/issues/136919.

@cluster-api @clusterapi @issue-13338
Feature: What a MachineDeployment no longer has goes from its machines, also after an upgrade

  A Node has the labels of its Machine whose names begin with node.cluster.x-k8s.io.

  Background:
    Given a cluster
    And the release v1.9.5 runs in place of the target until it is upgraded
    And Cluster API
    And a MachineDeployment "workers" with 1 Running machine
    When "MachineDeployment/workers" is patched with:
      """
      spec: {template: {metadata: {labels: {node.cluster.x-k8s.io/team: blue}}}}
      """
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: first}
      spec:
        nodeSelector: {node.cluster.x-k8s.io/team: blue}
        containers: [{name: c, image: pause}]
      """
    Then the pod "first" is Running within 5m
    When the target is upgraded to v1.12.0
    And the scenario waits for 5m

  @clusterapi-13338-managed-fields
  Scenario: A Machine is labelled while an upgrade has ended the webhooks
    When the target is stopped
    And "ValidatingWebhookConfiguration/capi-validating-webhook-configuration" is deleted
    And "MutatingWebhookConfiguration/capi-mutating-webhook-configuration" is deleted
    And "Machine/$name" is labelled "looked-at=yes" once "capi-manager" has ever sent "create" of "machines"
    And the target is upgraded
    And the scenario waits for 5m
    And "MachineDeployment/workers" is patched with:
      """
      spec: {template: {metadata: {labels: {node.cluster.x-k8s.io/team: null}}}}
      """
    And the scenario waits for 5m
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: later}
      spec:
        nodeSelector: {node.cluster.x-k8s.io/team: blue}
        containers: [{name: c, image: pause}]
      """
    Then this holds within 5m:
      """
      never: {source: api, verb: create, resource: pods, name: later, actor: kube-scheduler, detail: {subresource: binding}}
      """

  @clusterapi-13338-upgraded
  Scenario: Nothing is written while the release is replaced
    When the target is upgraded
    And the scenario waits for 5m
    And "MachineDeployment/workers" is patched with:
      """
      spec: {template: {metadata: {labels: {node.cluster.x-k8s.io/team: null}}}}
      """
    And the scenario waits for 5m
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: later}
      spec:
        nodeSelector: {node.cluster.x-k8s.io/team: blue}
        containers: [{name: c, image: pause}]
      """
    Then this holds within 5m:
      """
      never: {source: api, verb: create, resource: pods, name: later, actor: kube-scheduler, detail: {subresource: binding}}
      """
    And "capi-manager" has ever sent "create" of "machines" exactly 1 time within 1s
