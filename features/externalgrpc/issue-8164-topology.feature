# https://github.com/kubernetes/autoscaler/pull/8164

@cluster-autoscaler @externalgrpc
Feature: Pods that are spread over nodes are no reason to keep a node

  Two instances have a pod each, and one has room for both. There is no other node: it would count
  as a place of the spread, too.

  Background:
    Given a cluster
    And a cloud of node groups
    And these node groups:
      | name    | type   | min | max |
      | workers | medium | 0   | 3   |
    And Cluster Autoscaler
    And a pod "a" that requests 3 CPU is Running
    And a pod "b" that requests 3 CPU is Running

  @issue-8164 @externalgrpc-8164-spread-blocks
  Scenario: The spread leaves out nodes that are tainted
    Given these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: honor}
      spec:
        replicas: 2
        selector: {matchLabels: {app: honor}}
        template:
          metadata: {labels: {app: honor}}
          spec:
            topologySpreadConstraints:
              - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: honor}}}
            containers: [{name: honor, image: honor, resources: {requests: {cpu: 200m}}}]
      """
    And "kube-scheduler" has ever sent "create" of "pods/binding" 4 times
    And "Pod/a" is deleted
    And "Pod/b" is deleted
    When the scenario waits for 1m
    Then this holds within 30m:
      """
      happens: {source: cloud, verb: NodeGroupDeleteNodes, actor: cluster-autoscaler, detail: {group: workers}}
      """
