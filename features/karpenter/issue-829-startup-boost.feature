# https://github.com/kubernetes-sigs/karpenter/issues/829: a pod that comes back asks for more than the one that was evicted.

@karpenter @issue-829
Feature: Pods ask for more CPU while they start, and Karpenter consolidates them once they ask for less

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 5s later
    And Karpenter
    And the Vertical Pod Autoscaler v1.8.1 without its recommender, with the feature gate "CPUStartupBoost=true"
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: autoscaling.k8s.io/v1
      kind: VerticalPodAutoscaler
      metadata: {name: web}
      spec:
        targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        updatePolicy: {updateMode: "Off"}
        startupBoost: {cpu: {type: Factor, factor: 3, durationSeconds: 60}}
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 0
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: web, image: web, resources: {requests: {cpu: "1"}}}]}
      """

  @karpenter-829-startup-boost
  Scenario: Machines are consolidated when pods use less
    Given these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 30s}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux, c-8x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    When the scenario waits for 1m
    And "Deployment/web" is scaled to 2
    Then "karpenter" has sent "create" of "nodeclaims" no more than 4 times within 30m

  @karpenter-829-when-empty
  Scenario: Machines are removed only when they are empty
    Given these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux, c-8x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    When the scenario waits for 1m
    And "Deployment/web" is scaled to 2
    Then "karpenter" has sent "create" of "nodeclaims" no more than 4 times within 30m
