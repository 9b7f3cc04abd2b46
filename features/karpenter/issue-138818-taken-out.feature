# https://github.com/kubernetes/kubernetes/pull/138818

@karpenter @issue-138818
Feature: A pod that was taken out of its ReplicaSet is let alone, however late the controller hears of it

  @karpenter-138818-taken-out
  Scenario: A pod is taken out for a closer look, and its ReplicaSet is made smaller
    Given a cluster
    And a Ready Node "system" for system pods only
    And Karpenter with a NodePool "default"
    And these objects:
      """
      apiVersion: v1
      kind: Pod
      metadata:
        name: web
        labels: {app: web}
        annotations: {controller.kubernetes.io/pod-deletion-cost: "-1"}
      spec:
        containers: [{name: web, image: web, resources: {requests: {cpu: "1"}}}]
      ---
      apiVersion: apps/v1
      kind: ReplicaSet
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: "1"}}}]
      """
    When the scenario waits for 10s once "node" has recorded "running" of "pods" 2 times
    And every call "watch pods" of the program "kube-controller-manager" delivers nothing for 2m, for 2m
    And "Pod/web" is labelled "app=looked-at"
    And "ReplicaSet/web" is scaled to 1
    Then "replicaset-controller" never sends "delete" of "pods" "web" within 5m
