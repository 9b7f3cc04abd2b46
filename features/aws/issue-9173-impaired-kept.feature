# Fixed by https://github.com/aws/karpenter-provider-aws/pull/9198, first in v1.13.0 and v1.12.2.

@aws @issue-9173
Feature: A machine that is broken is replaced, whatever budgets say

  Budgets keep pods from being disrupted. Pods of a machine that AWS's own checks call impaired are disrupted already.

  @aws-9173-impaired-kept
  Scenario: AWS's checks of an instance fail, and its pod may not be evicted
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And the first instance fails the cloud's checks 5m after it is running
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers:
            - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      ---
      apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: web}
      spec:
        maxUnavailable: 0
        selector: {matchLabels: {app: web}}
      """
    Then a pod of the Deployment "web" is Running within 3m
    When "cloud" has recorded "impaired" of "instances"
    Then this holds within 8m:
      """
      sequence:
        - as: impaired
          match: {source: cloud, verb: impaired, resource: instances}
          capture: {broken: name}
        - as: terminated
          match: {source: cloud, verb: deleted, resource: instances, name: $broken}
      """
    And a pod of the Deployment "web" is Running within 5m
