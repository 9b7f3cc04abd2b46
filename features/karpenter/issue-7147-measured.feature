# https://github.com/kubernetes/autoscaler/issues/7147: recommendations that no machine of the cluster has room for.

@karpenter @issue-7147
Feature: Pods use nearly all that the largest machine has, and more than that is recommended for them

  @karpenter-7147-measured
  Scenario: Two pods come to use what they find
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 5s later
    And Karpenter
    And the Vertical Pod Autoscaler v1.8.1
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 2
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 2500m, memory: 1Gi}}}]}
      ---
      apiVersion: autoscaling.k8s.io/v1
      kind: VerticalPodAutoscaler
      metadata: {name: web}
      spec:
        targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        updatePolicy: {updateMode: Recreate}
      """
    And "node" has recorded "running" of "pods" 2 times
    When each pod of "Deployment/web" uses 3800m CPU and 512Mi of memory
    Then "vpa-updater" has ever sent "create" of "pods/eviction" within 30m
    And "replicaset-controller" has ever sent "create" of "pods" 3 times within 1m
    And every pod is Running within 10m
