# https://github.com/kubernetes-sigs/karpenter/issues/2181, fixed by https://github.com/kubernetes-sigs/karpenter/pull/2182

@karpenter @issue-2181
Feature: A pod gets a machine without a label that it only prefers

  @karpenter-2181-preferred-affinity
  Scenario: A pod prefers Nodes with a label that Karpenter may not set
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: choosy}
      spec:
        affinity:
          nodeAffinity:
            preferredDuringSchedulingIgnoredDuringExecution:
              - weight: 50
                preference: {matchExpressions: [{key: node-role.kubernetes.io/worker, operator: Exists}]}
              - weight: 50
                preference: {matchExpressions: [{key: kubernetes.io/role, operator: In, values: [worker]}]}
        containers: [{name: choosy, image: choosy, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "choosy" is Running within 5m
