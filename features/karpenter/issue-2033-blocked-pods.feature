# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2033, first in v1.0.7, v1.1.3, v1.2.3, v1.3.3 and v1.4.0.

@karpenter @issue-2033
Feature: No machine is launched for a pod that may not leave its own

  @karpenter-2033-blocked-pods
  Scenario: A machine is deleted whose pod a disruption budget holds
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: web}
      spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: nowhere}
      spec:
        nodeSelector: {example.com/is: nowhere}
        containers: [{name: nowhere, image: nowhere}]
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then a pod of the Deployment "web" is Running within 5m
    When "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    Then 3m from now, exactly 1 NodeClaim has been created since the start
