# Asked for by https://github.com/aws/karpenter-provider-aws/issues/4403.

@aws @issue-4403
Feature: An upgrade of Karpenter for AWS loses no machine that is on its way

  @aws-4403-upgraded
  Scenario: It is upgraded when machines boot, and rolled back when they are removed
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And the release before the target runs in its place until it is upgraded
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 3
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            affinity:
              podAntiAffinity:
                requiredDuringSchedulingIgnoredDuringExecution:
                  - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
            containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then "karpenter" has sent "create" of "nodeclaims" 3 times within 1m
    And "cloud" has recorded "running" of "instances" 3 times within 2m
    When the target is upgraded
    Then every pod is Running within 5m
    When "Deployment/web" is scaled to 2
    Then "karpenter" has sent "delete" of "nodeclaims" within 5m
    When the target is rolled back
    Then 15m from now, exactly 3 NodeClaims have been created since the start
    And "karpenter" has ever sent "delete" of "nodes" exactly 1 times within 1s
    And every pod is Running within 1m
