# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2511

@karpenter @issue-2511
Feature: A spread constraint may have no label selector

  @karpenter-2511-no-selector
  Scenario: A pod that is spread over Nodes without a label selector, and another one
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: spread, namespace: default}
      spec:
        topologySpreadConstraints:
          - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}
        containers: [{name: main, image: main, resources: {requests: {cpu: 1}}}]
      """
    And a pod "web" that requests 1 CPU is created
    Then the pod "spread" is Running within 5m
    And the pod "web" is Running within 1m
