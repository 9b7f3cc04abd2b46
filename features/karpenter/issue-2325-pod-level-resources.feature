# https://github.com/kubernetes-sigs/karpenter/issues/2325, fixed in v1.8.0.

@karpenter @issue-2325
Feature: What a pod requests as a whole counts

  Kubernetes takes requests of a pod beside those of its containers, by default since 1.34. Releases of Karpenter from
  before count those of containers only.

  @karpenter-2325-pod-level-resources
  Scenario: Two pods have requests as a whole, and a machine has room for one of them
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: first, namespace: default}
      spec:
        resources: {requests: {cpu: 3}}
        containers: [{name: main, image: main}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: second, namespace: default}
      spec:
        resources: {requests: {cpu: 3}}
        containers: [{name: main, image: main}]
      """
    Then every pod is Running within 5m
